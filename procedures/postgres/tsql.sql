-- What a client's SELECT over views needs on PostgreSQL (src/query/postgres.c writes it; src/engine/sqlite/store/tsql.c has the same for
-- SQLite): functions of text and CAST as T-SQL means them. Lengths and positions count UTF-16 code units: a character beyond U+FFFF is two,
-- but those from U+10F7FE on, which stand for U+0000 and lone surrogates (and the sign before a genuine one of them), are one each.

-- ---- order: without the case of ASCII and Latin-1, blanks at the end do not count
CREATE OR REPLACE FUNCTION tsql_lower(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
$$ SELECT translate($1 COLLATE "C", 'ABCDEFGHIJKLMNOPQRSTUVWXYZÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞ', 'abcdefghijklmnopqrstuvwxyzàáâãäåæçèéêëìíîïðñòóôõöøùúûüýþ') $$;
CREATE OR REPLACE FUNCTION tsql_upper(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
$$ SELECT translate($1 COLLATE "C", 'abcdefghijklmnopqrstuvwxyzàáâãäåæçèéêëìíîïðñòóôõöøùúûüýþ', 'ABCDEFGHIJKLMNOPQRSTUVWXYZÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞ') $$;
CREATE OR REPLACE FUNCTION tsql_fold(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
$$ SELECT translate($1 COLLATE "C", 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') $$;
CREATE OR REPLACE FUNCTION tsql_exact(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT rtrim($1 COLLATE "C", ' ') COLLATE "C" $$;
-- The same for less and greater. The shorter text is taken to be filled up with blanks, so that it comes after one that goes on with a control
-- character. What stands for U+0000 goes before U+0001, what stands for a lone surrogate between U+D7FF and U+E000. (Of U+10F7FE and above,
-- which nobody has given a meaning to, the order among themselves is another.)
CREATE OR REPLACE FUNCTION tsql_rank(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT CASE WHEN $1 COLLATE "C" ~ E'[\x01\uD7FF\U0010F7FF-\U0010FFFF]'
    THEN replace(replace(regexp_replace(replace(rtrim($1, ' ') COLLATE "C", E'\uD7FF', E'\uD7FF\x01'), E'([\U0010F800-\U0010FFFF])', E'\uD7FF\\1', 'g'),
        E'\x01', E'\x01\x02'), E'\U0010F7FF', E'\x01\x01')
    ELSE rtrim($1 COLLATE "C", ' ') END || ' ' COLLATE "C" $$;
-- Punctuation comes before digits, these before letters: what lies between them in ASCII is moved to the front.
CREATE OR REPLACE FUNCTION tsql_names(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT rtrim(translate(tsql_lower($1), ':;<=>?@[\]^_`{|}~', E'\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e'), ' ') COLLATE "C" $$;

-- ---- errors with a number
CREATE OR REPLACE FUNCTION tsql_raise(number int, class int, state int, message text) RETURNS text LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION USING ERRCODE = 'PC001', MESSAGE = message, DETAIL = number || ' ' || class || ' ' || state; END $$;

-- ---- lengths and parts
CREATE OR REPLACE FUNCTION tsql_units(text) RETURNS int8 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
$$ SELECT CASE WHEN octet_length($1) = length($1) THEN length($1)::int8
    ELSE length($1)::int8 + length(regexp_replace($1 COLLATE "C", E'[^\U00010000-\U0010F7FD]', '', 'g')) END $$;
CREATE OR REPLACE FUNCTION tsql_len(text) RETURNS int8 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT tsql_units(rtrim($1, ' ')) $$;
CREATE OR REPLACE FUNCTION tsql_prefix(s text, units int8) RETURNS int LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $procession$
DECLARE
    n int := 0;
    c int;
BEGIN                                           -- how many characters fit into so many units
    IF octet_length(s) = length(s) OR tsql_units(s) = length(s) THEN RETURN least(units, length(s)); END IF;
    WHILE n < length(s) LOOP
        c := ascii(substr(s, n + 1, 1));
        units := units - CASE WHEN c BETWEEN 65536 AND 1112061 THEN 2 ELSE 1 END;
        EXIT WHEN units < 0;
        n := n + 1;
    END LOOP;
    RETURN n;
END $procession$;
CREATE OR REPLACE FUNCTION tsql_part(s text, start int8, n int8) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $procession$
BEGIN
    IF start < 1 THEN
        n := greatest(start + n - 1, 0);
        start := 1;
    END IF;
    s := substr(s, tsql_prefix(s, start - 1) + 1);
    RETURN substr(s, 1, tsql_prefix(s, n));
END $procession$;
CREATE OR REPLACE FUNCTION tsql_substring(text, int8, int8) RETURNS text LANGUAGE sql STABLE STRICT AS
$$ SELECT CASE WHEN $3 < 0 THEN tsql_raise(537, 16, 3, 'Invalid length parameter passed to the LEFT or SUBSTRING function.') ELSE tsql_part($1, $2, $3) END $$;
CREATE OR REPLACE FUNCTION tsql_left(text, int8) RETURNS text LANGUAGE sql STABLE STRICT AS $$ SELECT tsql_substring($1, 1, $2) $$;
CREATE OR REPLACE FUNCTION tsql_right(text, int8) RETURNS text LANGUAGE sql STABLE STRICT AS
$$ SELECT CASE WHEN $2 < 0 THEN tsql_raise(537, 16, 3, 'Invalid length parameter passed to the RIGHT function.')
    ELSE tsql_part($1, greatest(tsql_units($1) - $2, 0) + 1, $2) END $$;
CREATE OR REPLACE FUNCTION tsql_charindex(what text, place text) RETURNS int8 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
$$ SELECT CASE WHEN what = '' OR strpos(tsql_fold(place), tsql_fold(what)) = 0 THEN 0
    ELSE tsql_units(substr(place, 1, strpos(tsql_fold(place), tsql_fold(what)) - 1)) + 1 END $$;
CREATE OR REPLACE FUNCTION tsql_replace(s text, what text, other text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $procession$
DECLARE
    found text[] := '{}'::text[];
    folded text := tsql_fold(s);
    sought text := tsql_fold(what);
    at int;
BEGIN
    IF what = '' THEN RETURN s; END IF;
    LOOP
        at := strpos(folded, sought);
        EXIT WHEN at = 0;
        found := found || (substr(s, 1, at - 1) || other);
        s := substr(s, at + length(what));
        folded := substr(folded, at + length(what));
    END LOOP;
    RETURN array_to_string(found, '') || s;
END $procession$;

-- ---- LIKE: %, _, [set]; without the case of ASCII. blanks: those at the end of the text need not be matched
CREATE OR REPLACE FUNCTION tsql_pattern(p text, escape text, blanks boolean) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $procession$
DECLARE
    r text := '(?s)^';
    i int := 1;
    j int;
    c text;
    inside text;
BEGIN
    WHILE i <= length(p) LOOP
        c := substr(p, i, 1);
        IF escape <> '' AND c = escape AND i < length(p) THEN
            i := i + 1;
            r := r || regexp_replace(substr(p, i, 1), '([^[:alnum:] ])', '\\\1');
        ELSIF c = '%' THEN r := r || '.*';
        ELSIF c = '_' THEN r := r || '.';
        ELSIF c = '[' THEN
            j := i + 1;
            IF substr(p, j, 1) = '^' THEN j := j + 1; END IF;
            IF substr(p, j, 1) = ']' THEN j := j + 1; END IF;
            WHILE j <= length(p) AND substr(p, j, 1) <> ']' LOOP j := j + 1; END LOOP;
            IF j > length(p) THEN RETURN NULL; END IF;
            inside := substr(p, i + 1, j - i - 1);
            IF inside = '' THEN RETURN NULL; END IF;
            WHILE inside ~ '.-.' AND ascii(substr(inside, position('-' IN substr(inside, 2)), 1)) > ascii(substr(inside, position('-' IN substr(inside, 2)) + 2, 1)) LOOP
                inside := overlay(inside PLACING '' FROM position('-' IN substr(inside, 2)) FOR 3);     -- a range that goes backwards has nothing
            END LOOP;
            IF inside = '' THEN RETURN NULL; END IF;
            r := r || '[' || CASE WHEN left(inside, 1) = '^' THEN '^' || replace(replace(replace(substr(inside, 2), '\', '\\'), '[', '\['), ']', '\]')
                ELSE replace(replace(replace(inside, '\', '\\'), '[', '\['), ']', '\]') END || ']';
            i := j;
        ELSE r := r || regexp_replace(c, '([^[:alnum:] ])', '\\\1');
        END IF;
        i := i + 1;
    END LOOP;
    RETURN r || CASE WHEN blanks THEN ' *$' ELSE '$' END;
END $procession$;
CREATE OR REPLACE FUNCTION tsql_matches(v text, p text, escape text, blanks boolean) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
$$ SELECT coalesce(tsql_fold(v) ~ tsql_pattern(tsql_fold(p), tsql_fold(escape), blanks), false) $$;
CREATE OR REPLACE FUNCTION tsql_like(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT tsql_matches($1, $2, '', true) $$;
CREATE OR REPLACE FUNCTION tsql_like(text, text, text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT tsql_matches($1, $2, $3, true) $$;
CREATE OR REPLACE FUNCTION tsql_nlike(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT tsql_matches($1, $2, '', false) $$;
CREATE OR REPLACE FUNCTION tsql_nlike(text, text, text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT tsql_matches($1, $2, $3, false) $$;

-- ---- CAST
CREATE OR REPLACE FUNCTION tsql_to_text(v text, width int8, fixed boolean) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS
$$ SELECT CASE WHEN width < 0 THEN v WHEN fixed THEN tsql_part(v, 1, width) || repeat(' ', greatest(width - tsql_units(v), 0)::int)
    ELSE tsql_part(v, 1, width) END $$;
-- A number that is too long for its text is '*', or an error.
CREATE OR REPLACE FUNCTION tsql_number_to_text(v text, width int8, fixed boolean, star boolean, type_name text) RETURNS text LANGUAGE sql STABLE STRICT AS
$$ SELECT CASE WHEN width < 0 OR length(v) <= width THEN tsql_to_text(v, width, fixed) WHEN star THEN tsql_to_text('*', width, fixed)
    ELSE tsql_raise(8115, 16, 2, 'Arithmetic overflow error converting expression to data type ' || type_name || '.') END $$;
CREATE OR REPLACE FUNCTION tsql_in_range(v numeric, least_ int8, most int8, number int, message text) RETURNS int8 LANGUAGE plpgsql STABLE STRICT AS $procession$
BEGIN
    IF v < least_ OR v > most THEN PERFORM tsql_raise(number, 16, 2, message); END IF;
    RETURN v::int8;
END $procession$;
CREATE OR REPLACE FUNCTION tsql_to_number(v int8, least_ int8, most int8, type_name text, source text) RETURNS int8 LANGUAGE sql STABLE STRICT AS
$$ SELECT CASE WHEN v BETWEEN least_ AND most THEN v WHEN type_name IN ('tinyint', 'smallint')
    THEN tsql_in_range(v, least_, most, 220, 'Arithmetic overflow error for data type ' || type_name || ', value = ' || v || '.')
    ELSE tsql_in_range(v, least_, most, 8115, 'Arithmetic overflow error converting expression to data type ' || type_name || '.') END $$;
CREATE OR REPLACE FUNCTION tsql_to_number(v numeric, least_ int8, most int8, type_name text, source text) RETURNS int8 LANGUAGE sql STABLE STRICT AS
$$ SELECT CASE WHEN type_name IN ('tinyint', 'smallint')
    THEN tsql_in_range(trunc(v), least_, most, 232, 'Arithmetic overflow error for type ' || type_name || ', value = ' || round(v, 6) || '.')
    ELSE tsql_in_range(trunc(v), least_, most, 8115, 'Arithmetic overflow error converting expression to data type ' || type_name || '.') END $$;
CREATE OR REPLACE FUNCTION tsql_to_number(v float8, least_ int8, most int8, type_name text, source text) RETURNS int8 LANGUAGE sql STABLE STRICT AS
$$ SELECT tsql_to_number(v::numeric, least_, most, type_name, source) $$;
CREATE OR REPLACE FUNCTION tsql_to_number(v text, least_ int8, most int8, type_name text, source text) RETURNS int8 LANGUAGE plpgsql STABLE STRICT AS $procession$
DECLARE
    big constant boolean := type_name = 'bigint';
BEGIN
    IF trim(v) = '' THEN RETURN 0; END IF;
    IF trim(v) !~ '^[+-]? *[0-9]+$' THEN
        PERFORM tsql_raise(CASE WHEN big THEN 8114 ELSE 245 END, 16, CASE WHEN big THEN 5 ELSE 1 END, CASE WHEN big
            THEN 'Error converting data type ' || source || ' to bigint.'
            ELSE 'Conversion failed when converting the ' || source || ' value ''' || v || ''' to data type ' || type_name || '.' END);
    END IF;
    RETURN tsql_in_range(replace(v, ' ', '')::numeric, least_, most, CASE WHEN big THEN 8115 WHEN type_name = 'int' THEN 248 ELSE 244 END,
        CASE WHEN big THEN 'Arithmetic overflow error converting expression to data type bigint.'
        WHEN type_name = 'int' THEN 'The conversion of the ' || source || ' value ''' || v || ''' overflowed an int column.'
        ELSE 'The conversion of the ' || source || ' value ''' || v || ''' overflowed an INT' || CASE type_name WHEN 'tinyint' THEN '1' ELSE '2' END
            || ' column. Use a larger integer column.' END);
END $procession$;
CREATE OR REPLACE FUNCTION tsql_to_bit(v text) RETURNS int8 LANGUAGE plpgsql STABLE STRICT AS $procession$
BEGIN
    IF tsql_fold(trim(v)) IN ('true', 'false') THEN RETURN (tsql_fold(trim(v)) = 'true')::int; END IF;
    RETURN (tsql_to_number(v, -9223372036854775807, 9223372036854775807, 'bit', 'nvarchar') <> 0)::int;
END $procession$;
CREATE OR REPLACE FUNCTION tsql_to_bit(v int8) RETURNS int8 LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT (v <> 0)::int::int8 $$;
CREATE OR REPLACE FUNCTION tsql_to_bit(v float8) RETURNS int8 LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT (v <> 0)::int::int8 $$;
CREATE OR REPLACE FUNCTION tsql_to_bit(v numeric) RETURNS int8 LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT (v <> 0)::int::int8 $$;
CREATE OR REPLACE FUNCTION tsql_to_float(v text, type_name text, source text) RETURNS float8 LANGUAGE plpgsql STABLE STRICT AS $procession$
BEGIN
    IF trim(v) = '' THEN RETURN 0; END IF;
    RETURN v::float8;
EXCEPTION WHEN data_exception THEN
    PERFORM tsql_raise(8114, 16, 5, 'Error converting data type ' || source || ' to ' || type_name || '.');
    RETURN NULL;                                -- it has raised
END $procession$;
CREATE OR REPLACE FUNCTION tsql_to_float(v int8, type_name text, source text) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT v::float8 $$;
CREATE OR REPLACE FUNCTION tsql_to_float(v float8, type_name text, source text) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT v $$;
CREATE OR REPLACE FUNCTION tsql_to_float(v numeric, type_name text, source text) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT v::float8 $$;

-- ---- arguments of functions that take text, numbers or bytes: what does not fit names nothing
CREATE OR REPLACE FUNCTION tsql_a_number(int8) RETURNS int8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 $$;
CREATE OR REPLACE FUNCTION tsql_a_number(text) RETURNS int8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT CASE WHEN $1 ~ '^ *-?[0-9]{1,18} *$' THEN $1::int8 END $$;
CREATE OR REPLACE FUNCTION tsql_a_number(bytea) RETURNS int8 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT NULL::int8 $$;
CREATE OR REPLACE FUNCTION tsql_a_text(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 $$;
CREATE OR REPLACE FUNCTION tsql_a_text(int8) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1::text $$;
CREATE OR REPLACE FUNCTION tsql_a_text(bytea) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT NULL::text $$;
CREATE OR REPLACE FUNCTION tsql_bytes(bytea) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT $1 $$;
CREATE OR REPLACE FUNCTION tsql_bytes(text) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT NULL::bytea $$;
CREATE OR REPLACE FUNCTION tsql_bytes(int8) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT NULL::bytea $$;

-- ---- the least and the greatest of bytes, which PostgreSQL 15 does not have
CREATE OR REPLACE FUNCTION tsql_lesser(bytea, bytea) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT CASE WHEN $1 <= $2 THEN $1 ELSE $2 END $$;
CREATE OR REPLACE FUNCTION tsql_greater(bytea, bytea) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT CASE WHEN $1 >= $2 THEN $1 ELSE $2 END $$;
CREATE OR REPLACE AGGREGATE tsql_min(bytea) (SFUNC = tsql_lesser, STYPE = bytea);
CREATE OR REPLACE AGGREGATE tsql_max(bytea) (SFUNC = tsql_greater, STYPE = bytea);
