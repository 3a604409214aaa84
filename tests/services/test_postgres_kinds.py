"""Tables of every kind, name and owner give the numbers of the plain one; a role sees its rows."""

import pytest
from source_postgres import fill

import halfmask as hm
from halfmask.errors import ReleaseFailed, SourceError
from halfmask.sources.postgres import open_postgres

COUNT, NAMES = (
    90,
    ['we"ird', "Ünïcødé 表", "a.b", "%s", "back\\slash", "it's", "{0}", "select", " "],
)
QUERIES = {"n": hm.Count(), "pay": hm.Mean("pay", 0, 128), "half": hm.Median("pay", 0, 128)}

KINDS = {
    "partitioned": """
        CREATE TABLE odd (id int, pay float8) PARTITION BY RANGE (id);
        CREATE TABLE odd_low PARTITION OF odd FOR VALUES FROM (0) TO (40);
        CREATE TABLE odd_rest PARTITION OF odd DEFAULT;
        INSERT INTO odd SELECT * FROM staff""",
    "inherited": """
        CREATE TABLE odd (id int, pay float8); CREATE TABLE odd_child () INHERITS (odd);
        INSERT INTO odd SELECT * FROM staff WHERE id < 40;
        INSERT INTO odd_child SELECT * FROM staff WHERE id >= 40""",
    "materialized": "CREATE MATERIALIZED VIEW odd AS TABLE staff",
    "foreign": """
        CREATE EXTENSION postgres_fdw;
        CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw
            OPTIONS (host '127.0.0.1', port '{port}', dbname '{database}');
        CREATE USER MAPPING FOR postgres SERVER far OPTIONS (user 'postgres');
        CREATE FOREIGN TABLE odd (id int, pay float8) SERVER far
            OPTIONS (schema_name 'public', table_name 'staff')""",
    "a view of doubtful functions": """
        CREATE VIEW odd AS SELECT id, pay + 0 * random() AS pay FROM staff""",
}

ATTACKS = """
    CREATE FUNCTION public.floor(float8) RETURNS float8 LANGUAGE sql AS 'SELECT 0::float8';
    CREATE FUNCTION public.told(int, int) RETURNS bool LANGUAGE plpgsql AS
        $$BEGIN RAISE EXCEPTION 'row %', $1; END$$;
    CREATE OPERATOR public.= (LEFTARG = int, RIGHTARG = int, PROCEDURE = public.told);
    ALTER ROLE clerk SET search_path = public, pg_catalog"""

PREFERRED = {
    "DateStyle": "'German, DMY'",
    "TimeZone": "'Asia/Tokyo'",
    "client_encoding": "LATIN1",
    "standard_conforming_strings": "off",
    "extra_float_digits": "-5",
    "transform_null_equals": "on",
    "default_transaction_isolation": "serializable",
    "search_path": "''",
}


@pytest.fixture(scope="module")
def url(postgres):
    address = postgres.new_database()
    rows = {"id": range(COUNT), "pay": range(COUNT)}
    fill(address, {"id": "int", "pay": "float8"}, rows, "staff")
    return address


@pytest.fixture
def sql(postgres, url):
    """Run statements as the owner of all."""
    return lambda text: postgres.sql(text, url.rsplit("/", 1)[1])


def numbers(url, table):
    """The answers under seeded noise: equal if, and in all likelihood only if, the rows are."""
    with hm.open(url, table=table, unit="id", budget=9, words=hm.noise.seeded_words(5)) as opened:
        found = opened.ask(QUERIES, epsilon=3)
    return [found[name].value for name in QUERIES]


@pytest.fixture(scope="module")
def plain(url):
    return numbers(url, "public.staff")


@pytest.mark.parametrize("name", NAMES)
def test_a_table_may_have_any_name(name, url, sql, plain):
    quoted = '"' + name.replace('"', '""') + '"'
    sql(f"CREATE TABLE {quoted} AS TABLE staff")
    assert numbers(url, name) == numbers(url, quoted) == plain


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_may_be_of_any_kind(kind, url, sql, plain, postgres):
    database = url.rsplit("/", 1)[1]
    sql(f"CREATE SCHEMA kinds; SET search_path = kinds, public; "
        f"{KINDS[kind].format(port=postgres.port, database=database)}")  # fmt: skip
    try:
        assert numbers(url, "kinds.odd") == plain
    finally:
        sql("DROP SCHEMA kinds CASCADE")


@pytest.fixture
def clerk(postgres, url, sql):
    """The address of a role that may read the table."""
    sql("CREATE ROLE clerk LOGIN; GRANT SELECT ON staff TO clerk")
    yield postgres.url(url.rsplit("/", 1)[1], user="clerk")
    sql("DROP OWNED BY clerk; DROP ROLE clerk")


def test_what_a_role_prefers_changes_no_answer(clerk, sql, plain):
    for name, value in PREFERRED.items():
        sql(f"ALTER ROLE clerk SET {name} = {value}")
    assert numbers(clerk, "public.staff") == plain


def test_functions_and_operators_on_a_role_s_path_are_not_used(clerk, sql, plain):
    sql(ATTACKS)
    try:
        assert numbers(clerk, "staff") == plain
    finally:
        sql("DROP OPERATOR public.= (int, int); DROP FUNCTION public.told, public.floor")


def test_under_row_security_a_table_is_what_the_role_sees(clerk, url, sql, plain):
    sql("ALTER TABLE staff ENABLE ROW LEVEL SECURITY; "
        "CREATE POLICY few ON staff TO clerk USING (id < 30)")  # fmt: skip
    try:
        with hm.open(clerk, table="staff", unit="id", budget=50) as seen:
            assert round(seen.ask(hm.Count(), epsilon=50).value) == 30
        assert numbers(url, "staff") == plain  # the owner sees all
    finally:
        sql("DROP POLICY few ON staff; ALTER TABLE staff DISABLE ROW LEVEL SECURITY")


def test_a_limit_of_the_server_that_ends_a_query_is_charged(clerk, sql, url):
    sql("CREATE VIEW slow AS SELECT id, pay FROM staff WHERE pg_sleep(1) IS NOT NULL; "
        "GRANT SELECT ON slow TO clerk; ALTER ROLE clerk SET statement_timeout = 500")  # fmt: skip
    with hm.open(clerk, table="slow", unit="id", budget=9) as staff:
        with pytest.raises(ReleaseFailed, match="the charge stays"):
            staff.ask(hm.Count(), epsilon=1)
        assert staff.remaining.epsilon == 8
    sql("DROP VIEW slow")


def test_a_temporary_table_that_a_pool_left_on_a_connection_is_not_taken(url, monkeypatch):
    from halfmask.sources.postgres_engine import PostgresEngine

    connect = PostgresEngine._connected

    def handed_on(self):
        connection = connect(self)
        connection.execute("CREATE TEMP TABLE staff AS SELECT 7 AS id, 7 AS pay")
        return connection

    monkeypatch.setattr(PostgresEngine, "_connected", handed_on)
    with pytest.raises(SourceError, match="no table or view 'staff'"):
        open_postgres(url, "staff", None, None)
    assert open_postgres(url, "public.staff", None, None).schema.names == ("id", "pay")


def test_a_full_place_for_sorting_is_charged_and_not_told(clerk, sql):
    """As a full disk would be."""
    sql("CREATE TABLE many AS SELECT md5(i::text) AS name, i::float8 AS pay "
        "FROM generate_series(1, 40000) i; GRANT SELECT ON many TO clerk; "
        "ALTER ROLE clerk SET work_mem = '64'; "
        "ALTER ROLE clerk SET temp_file_limit = '64'")  # fmt: skip
    with hm.open(clerk, table="many", unit="name", budget=9) as many:
        with pytest.raises(ReleaseFailed, match="the charge stays") as caught:
            many.ask(hm.Mean("pay", 0, 100), epsilon=1)
        assert "temp" not in str(caught.value)
        assert many.remaining.epsilon == 8
    sql("DROP TABLE many")
