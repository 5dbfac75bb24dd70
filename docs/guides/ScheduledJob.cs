using System;
using System.Data;
using System.Data.SqlClient;

/// Adds a recurring job, shows what is stored, and takes what is due as the client of [MS-SSPSJ] does.
class ScheduledJob {
    const string Assembly = "Microsoft.Office.Server, Version=12.0.0.0, Culture=neutral, PublicKeyToken=71e9bce111e9429c";
    const string Class = "Microsoft.Office.Server.UserProfiles.UserProfileImportJob";

    static SqlCommand Command(SqlConnection db, string procedure, params object[] namesAndValues) {
        var command = new SqlCommand(procedure, db) { CommandType = CommandType.StoredProcedure };
        for (int i = 0; i < namesAndValues.Length; i += 2)
            command.Parameters.AddWithValue((string) namesAndValues[i], namesAndValues[i + 1] ?? DBNull.Value);
        command.Parameters.Add("@status", SqlDbType.Int).Direction = ParameterDirection.ReturnValue;
        return command;
    }

    /// Every procedure here says by its return status whether it worked: a rule that was broken is no exception.
    static void Run(SqlCommand command) {
        command.ExecuteNonQuery();
        if ((int) command.Parameters["@status"].Value != 0)
            throw new InvalidOperationException(command.CommandText + " was refused");
    }

    static void Main() {
        Func<string, string> env = Environment.GetEnvironmentVariable;
        var where = "Server=" + env("PROCESSION_HOST") + "," + env("PROCESSION_PORT") + ";Database=ScheduledJobs;User ID=" + env("PROCESSION_USER") +
            ";Password=" + env("PROCESSION_PASSWORD") + ";TrustServerCertificate=true";
        using (var db = new SqlConnection(where)) {
            db.Open();
            db.InfoMessage += (sender, e) => Console.Error.WriteLine(e.Message);      // says which rule it was
            var id = Guid.NewGuid();
            var due = DateTime.UtcNow.AddSeconds(-1);
            Run(Command(db, "proc_MIP_AddScheduledJob", "@JobId", id, "@Assembly", Assembly, "@Class", Class, "@Recurrence", "daily at 01:00:00",
                "@JobData", "IsIncremental#True", "@NextDueTime", due, "@Disabled", false, "@DisplayName", "from the guide"));
            using (var rows = Command(db, "proc_MIP_GetScheduledJobById", "@JobId", id).ExecuteReader()) {
                rows.Read();
                Console.WriteLine("stored: " + rows["DisplayName"] + ", " + rows["Recurrence"]);
            }
            // A scheduler asks once a minute for what is due within the next one; a job that runs once goes with the answer, others are refreshed.
            bool found = false;
            using (var rows = Command(db, "proc_MIP_GetScheduledJobsInInterval", "@NextDueTime", DateTime.UtcNow.AddSeconds(60)).ExecuteReader())
                while (rows.Read())
                    found |= (Guid) rows["JobId"] == id;
            Console.WriteLine("due: " + found);
            Run(Command(db, "proc_MIP_RefreshScheduledJob", "@JobId", id, "@NextDueTime", DateTime.UtcNow.Date.AddDays(1).AddHours(1)));
            Run(Command(db, "proc_MIP_RemoveScheduledJob", "@JobId", id));
            Console.WriteLine("removed");
        }
    }
}
