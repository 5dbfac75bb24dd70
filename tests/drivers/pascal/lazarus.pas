{ Lazarus' database components (Free Pascal's sqldb with mssqlconn, over DB-Library): datasets, pages, parameters,
  transactions, procedures, what they ask about tables. }
program Lazarus;
{$mode objfpc}{$H+}

uses
  Classes, SysUtils, StrUtils, db, sqldb, mssqlconn;

type
  TPart = procedure;
  EFailed = class(Exception);

var
  Connection: TMSSQLConnection;
  Transaction: TSQLTransaction;
  Counter: integer = 0;

procedure Expect(ok: boolean; const note: string);
begin
  if not ok then raise EFailed.Create(note);
end;

function Key(const name: string): string;
begin
  inc(Counter);
  Result := Format('%s-%s-pas-%d', [name, GetEnvironmentVariable('PT_PREFIX'), Counter]);
end;

procedure Open(const server, password, database: string; autocommit: boolean);
begin
  Connection := TMSSQLConnection.Create(nil);
  Transaction := TSQLTransaction.Create(Connection);
  Connection.Transaction := Transaction;
  Connection.HostName := server; { a section of freetds.conf }
  Connection.DatabaseName := database;
  Connection.UserName := GetEnvironmentVariable('PT_USER');
  Connection.Password := password;
  if autocommit then Connection.Params.Add('AutoCommit=true');
  Connection.Open;
end;

procedure Close;
begin
  FreeAndNil(Connection);
end;

function Query(const text: string): TSQLQuery;
begin
  Result := TSQLQuery.Create(Connection);
  Result.Database := Connection;
  Result.SQL.Text := text;
end;

function Answer(const text: string): string;
var q: TSQLQuery;
begin
  q := Query(text);
  q.Open;
  Expect(not q.EOF, 'no row: ' + text);
  Result := q.Fields[0].AsString;
  q.Free;
end;

{ The last two characters of every row's first column. }
function Endings(q: TSQLQuery): string;
begin
  Result := '';
  q.Open;
  while not q.EOF do
  begin
    if Result <> '' then Result := Result + ',';
    Result := Result + RightStr(q.Fields[0].AsString, 2);
    q.Next;
  end;
  q.Free;
end;

procedure Add(const id: string);
begin
  Connection.ExecuteDirect(Format('EXEC proc_AddItem @id = ''%s'', @item = 0x616263, @timeout = 20', [id]));
end;

function Some(n: integer): string;
var i: integer;
begin
  Result := Key('page');
  for i := 10 to 9 + n do Add(Format('%s-%d', [Result, i]));
end;

function Present(const id: string): boolean;
begin
  Result := Answer(Format('SELECT count(*) FROM Items WHERE Id = ''%s''', [id])) = '1';
end;

{ What mssqlconn asks when it connects stays in GetConnectionInfo, without a word when the server did not answer it. }
procedure Connects;
const Sections: array[0..5] of string = ('plain71', 'plain72', 'plain73', 'plain74', 'login74', 'tls74');
var section, refused: string;
begin
  for section in Sections do
  begin
    Open(section, GetEnvironmentVariable('PT_PASSWORD'), 'StateService', false);
    Expect(Answer('SELECT DB_NAME()') = 'StateService', 'database by ' + section);
    Expect(Pos('.', Connection.GetConnectionInfo(citServerVersion)) > 0, 'version: ' + Connection.GetConnectionInfo(citServerVersion));
    Expect(Pos('Microsoft SQL Server', Connection.GetConnectionInfo(citServerVersionString)) = 1, Connection.GetConnectionInfo(citServerVersionString));
    Close;
  end;
  refused := '';
  try
    Open('plain74', 'wrong', 'StateService', false);
  except
    on E: EMSSQLDatabaseError do refused := E.Message;
  end;
  Close;
  Expect(Pos('Login failed', refused) > 0, 'a wrong password: ' + refused);
end;

procedure Pages;
var q: TSQLQuery; from: string;
begin
  from := Format('FROM Items WHERE Id LIKE ''%s%%''', [Some(12)]);
  Expect(Endings(Query('SELECT Id ' + from + ' ORDER BY Id OFFSET 4 ROWS FETCH NEXT 3 ROWS ONLY')) = '14,15,16', 'offset');
  Expect(Endings(Query('SELECT Id FROM (SELECT Id, ROW_NUMBER() OVER (ORDER BY Id) AS n ' + from + ') x WHERE n BETWEEN 3 AND 4')) = '12,13', 'row_number');
  q := Query('SELECT Id, Bytes, Expires, LockTime ' + from + ' ORDER BY Id');
  q.Open;
  q.Last; { a TSQLQuery keeps its rows: forwards, backwards, by a value }
  Expect((q.RecordCount = 12) and AnsiEndsStr('-21', q.FieldByName('Id').AsString), Format('%d rows', [q.RecordCount]));
  q.Prior;
  Expect((q.FieldByName('Bytes').AsInteger = 3) and q.FieldByName('LockTime').IsNull, 'values');
  Expect(q.FieldByName('Expires').AsDateTime > Now - 1, 'Expires: ' + q.FieldByName('Expires').AsString);
  q.First;
  Expect(q.Locate('Id', q.FieldByName('Id').AsString, []) and (q.RecNo = 1), 'locate');
end;

procedure Parameters;
var q: TSQLQuery; prefix: string; i: integer;
begin
  prefix := Some(3);
  q := Query('SELECT Id, Bytes FROM Items WHERE Id = :id AND Bytes > :bytes AND Expires > :at');
  q.Prepare;
  for i := 10 to 13 do
  begin
    q.Close;
    q.ParamByName('id').AsString := Format('%s-%d', [prefix, i]);
    q.ParamByName('bytes').AsInteger := 2;
    q.ParamByName('at').AsDateTime := EncodeDate(2001, 2, 3) + EncodeTime(4, 5, 6, 7);
    q.Open;
    Expect(q.EOF = (i = 13), Format('row %d', [i]));
  end;
end;

{ sqldb begins by itself, and ends a transaction with COMMIT or with IF @@TRANCOUNT>0 ROLLBACK. }
procedure Transactions;
var a, b, c: string;
begin
  a := Key('a'); b := Key('b'); c := Key('c');
  Add(a);
  Expect(Present(a), 'not seen inside');
  Transaction.Rollback;
  Expect(not Present(a), 'seen after rollback');
  Add(b);
  Transaction.CommitRetaining;
  Add(c);
  Expect(Answer('SELECT @@TRANCOUNT') = '1', '@@TRANCOUNT');
  Transaction.RollbackRetaining;
  Expect(Present(b) and not Present(c), 'retaining');
  Transaction.Commit;
  Close;
  Open('plain74', GetEnvironmentVariable('PT_PASSWORD'), 'StateService', true);
  Add(a);
  Expect(Answer('SELECT @@TRANCOUNT') = '0', '@@TRANCOUNT with AutoCommit');
  Close;
  Open('plain74', GetEnvironmentVariable('PT_PASSWORD'), 'StateService', false);
  Expect(Present(a) and Present(b), 'not seen by another connection');
end;

procedure Procedures;
var q: TSQLQuery; id, said: string;
begin
  id := Key('p');
  Add(id);
  Transaction.Commit;
  said := '';
  try
    Add(id);
  except
    on E: EMSSQLDatabaseError do said := E.Message;
  end;
  Expect(Pos('duplicate', LowerCase(said)) > 0, 'a second item: ' + said);
  Transaction.Rollback;
  q := Query(Format('DECLARE @i varbinary(max), @l bit, @a int, @c int EXEC proc_GetItemWithLock ''%s'', @i OUTPUT, @l OUTPUT, @a OUTPUT, @c OUTPUT ' +
    'SELECT CONVERT(varchar(20), @i, 1) AS item, @i AS body, @l AS locked, @c AS cookie', [id]));
  q.ParseSQL := false;
  q.Options := q.Options - [sqoKeepOpenOnCommit];
  q.Open;
  Expect((q.FieldByName('item').AsString = '0x616263') and (q.FieldByName('cookie').AsInteger = 2), 'outputs: ' + q.FieldByName('item').AsString);
  Expect(q.FieldByName('body').AsString = 'abc', 'body: ' + q.FieldByName('body').AsString);
end;

procedure Metadata;
var names: TStringList; q: TSQLQuery;
begin
  names := TStringList.Create;
  Connection.GetProcedureNames(names);
  Expect(names.IndexOf('proc_AddItem') >= 0, 'procedures: ' + names.CommaText);
  Connection.GetFieldNames('Items', names);
  Expect((names.Count = 7) and (names.IndexOf('Expires') >= 0), 'columns: ' + names.CommaText);
  Connection.GetTableNames(names, false);
  Expect(names.IndexOf('Items') < 0, 'Items is a view, not a table: ' + names.CommaText);
  Connection.GetTableNames(names, true);
  names.Free;
  q := Query('SELECT Id, Bytes FROM Items WHERE Id = ''none'''); { DB-Library asks nothing else while rows are unread }
  q.UsePrimaryKeyAsKey := true; { asks for the indexes of the view }
  q.Open;
  Expect(q.FieldDefs.Find('Id').Size = 512, 'size of Id');
  q.ServerIndexDefs.Update;
  Expect(q.ServerIndexDefs.Count = 0, 'indexes');
end;

function Json(const text: string): string;
var c: char;
begin
  Result := '';
  for c in text do
    if (c < ' ') or (c > '~') or (c = '"') or (c = '\') then Result := Result + ' ' else Result := Result + c;
end;

procedure Run(const name: string; part: TPart);
var note: string;
begin
  note := '';
  try
    if name <> 'connect' then Open('plain74', GetEnvironmentVariable('PT_PASSWORD'), 'StateService', false);
    part();
  except
    on E: Exception do note := E.ClassName + ': ' + E.Message;
  end;
  try
    Close;
  except
    on E: Exception do note := note + ' close: ' + E.Message;
  end;
  WriteLn(Format('{"feature": "%s", "ok": %s, "note": "%s"}', [name, BoolToStr(note = '', 'true', 'false'), Json(note)]));
end;

begin
  Run('connect', @Connects);
  Run('pages', @Pages);
  Run('parameters', @Parameters);
  Run('transactions', @Transactions);
  Run('procedures', @Procedures);
  Run('metadata', @Metadata);
end.
