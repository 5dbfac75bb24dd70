#!/usr/bin/env escript
%% Erlang's odbc application over FreeTDS: rows, scrolling, parameters, transactions, procedures, what it asks about tables.
-mode(compile).

expect(true, _) -> ok;
expect(false, Note) -> throw({failed, Note}).

key(Name) ->
    lists:concat([Name, "-", os:getenv("PT_PREFIX"), "-erl-", erlang:unique_integer([positive])]).

open(Options) -> open(os:getenv("PT_PASSWORD"), Options).
open(Password, Options) ->
    odbc:connect(os:getenv("PT_ODBC") ++ ";UID=" ++ os:getenv("PT_USER") ++ ";PWD=" ++ Password, Options).

with(Options, Part) ->
    {ok, Db} = open(Options),
    try Part(Db) after odbc:disconnect(Db) end.

query(Db, Format, Arguments) ->
    case odbc:sql_query(Db, lists:flatten(io_lib:format(Format, Arguments))) of
        {error, Reason} -> throw({failed, Reason});
        Answer -> Answer
    end.

%% The status is selected: the odbc application takes FreeTDS' SQL_NO_DATA of a bare EXEC for an answer of its own.
add(Db, Id) ->
    {selected, ["r"], [{0}]} =
        query(Db, "DECLARE @r int EXEC @r = proc_AddItem @id = '~s', @item = 0x616263, @timeout = 20 SELECT @r AS r", [Id]).

some(Db, N) ->
    Prefix = key("page"),
    [add(Db, lists:concat([Prefix, "-", I])) || I <- lists:seq(10, 9 + N)],
    Prefix.

present(Db, Id) ->
    {selected, ["n"], [{N}]} = query(Db, "SELECT count(*) AS n FROM Items WHERE Id = '~s'", [Id]),
    N =:= 1.

endings(Rows) -> string:join([lists:nthtail(length(Id) - 2, Id) || {Id} <- Rows], ",").

connect() ->
    with([], fun(Db) -> {selected, ["name"], [{"StateService"}]} = query(Db, "SELECT CONVERT(varchar(60), DB_NAME()) AS name", []) end),
    {error, Reason} = open("wrong", []),
    expect(string:find(Reason, "Login failed for user") =/= nomatch, Reason).

pages() ->
    with([], fun(Db) ->
        From = "FROM Items WHERE Id LIKE '" ++ some(Db, 12) ++ "%'",
        {selected, _, Offset} = query(Db, "SELECT Id ~s ORDER BY Id OFFSET 4 ROWS FETCH NEXT 3 ROWS ONLY", [From]),
        expect(endings(Offset) =:= "14,15,16", Offset),
        {selected, _, Numbered} =
            query(Db, "SELECT Id FROM (SELECT Id, ROW_NUMBER() OVER (ORDER BY Id) AS n ~s) x WHERE n BETWEEN 3 AND 4", [From]),
        expect(endings(Numbered) =:= "12,13", Numbered),
        {selected, ["Id", "Bytes", "LockTime"], Rows} = query(Db, "SELECT Id, Bytes, LockTime ~s ORDER BY Id", [From]),
        expect(length(Rows) =:= 12 andalso element(3, hd(Rows)) =:= null, Rows)
    end).

%% select_count opens a server cursor, which first, last, next, prev and select walk over.
scrolls() ->
    with([{scrollable_cursors, on}], fun(Db) ->
        {ok, _} = odbc:select_count(Db, "SELECT Id FROM Items WHERE Id LIKE '" ++ some(Db, 5) ++ "%' ORDER BY Id"),
        At = fun({selected, ["Id"], Rows}) -> endings(Rows) end,
        Seen = [At(odbc:last(Db)), At(odbc:first(Db)), At(odbc:next(Db)), At(odbc:prev(Db)),
                At(odbc:select(Db, {absolute, 4}, 2)), At(odbc:first(Db)), At(odbc:select(Db, {relative, 2}, 1)), At(odbc:select(Db, next, 9))],
        expect(Seen =:= ["14", "10", "11", "10", "13,14", "10", "12", "13,14"], Seen)
    end).

prepared() ->
    with([], fun(Db) ->
        Prefix = some(Db, 3),
        lists:foreach(fun(I) ->
            Id = lists:concat([Prefix, "-", I]),
            {selected, ["Id", "Bytes"], Rows} =
                odbc:param_query(Db, "SELECT Id, Bytes FROM Items WHERE Id = ? AND Bytes > ?", [{{sql_varchar, 60}, [Id]}, {sql_integer, [2]}]),
            expect(length(Rows) =:= (if I < 13 -> 1; true -> 0 end), {I, Rows})
        end, lists:seq(10, 13))
    end).

transactions() ->
    with([{auto_commit, off}], fun(Db) -> with([], fun(Other) ->
        A = key("a"), B = key("b"),
        add(Db, A),
        expect(present(Db, A), "not seen inside"),
        ok = odbc:commit(Db, rollback),
        expect(not present(Db, A), "seen after rollback"),
        add(Db, B),
        ok = odbc:commit(Db, commit),
        expect(present(Other, B), "not seen after commit")
    end) end).

procedures() ->
    with([{extended_errors, on}], fun(Db) ->
        Id = key("p"),
        add(Db, Id),
        {error, Refused} = odbc:sql_query(Db, "EXEC proc_AddItem @id = '" ++ Id ++ "', @item = 0x61, @timeout = 20"),
        expect(element(2, Refused) =:= 2627, Refused),
        {selected, ["item", "cookie"], [{"0x616263", 2}]} =
            query(Db, "DECLARE @i varbinary(max), @l bit, @a int, @c int "
                "EXEC proc_GetItemWithLock '~s', @i OUTPUT, @l OUTPUT, @a OUTPUT, @c OUTPUT "
                "SELECT CONVERT(varchar(20), @i, 1) AS item, @c AS cookie", [Id])
    end).

%% describe_table prepares SELECT * and reads its columns, which are there only when the server tells them of a prepared statement.
metadata() ->
    with([], fun(Db) ->
        {ok, Columns} = odbc:describe_table(Db, "Items"),
        expect(length(Columns) =:= 7 andalso hd(Columns) =:= {"Id", {sql_varchar, 512}}, Columns)
    end).

run(Name, Part) ->
    Note = try Part(), "" catch
        throw:{failed, Failed} -> io_lib:format("~p", [Failed]);
        Class:Reason:Trace -> io_lib:format("~p ~p ~p", [Class, Reason, hd(Trace)])
    end,
    Plain = [case C >= $  andalso C =< $~ andalso C =/= $" andalso C =/= $\\ of true -> C; false -> $  end || C <- lists:flatten(Note)],
    io:format("{\"feature\": \"~s\", \"ok\": ~s, \"note\": \"~s\"}~n", [Name, Note =:= "", Plain]).

main(_) ->
    ok = odbc:start(),
    [run(Name, Part) || {Name, Part} <- [
        {"connect", fun connect/0}, {"pages", fun pages/0}, {"scrolls", fun scrolls/0}, {"prepared", fun prepared/0},
        {"transactions", fun transactions/0}, {"procedures", fun procedures/0}, {"metadata", fun metadata/0}]].
