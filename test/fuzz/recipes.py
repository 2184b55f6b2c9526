"""A call that succeeds, for each operation whose success chance would not bring about.

Each is who calls, and the values of the call: `path` beside the ids of the world, `query`, `body`, `media_type`.
"""

from world import in_a_day

FORM = "application/x-www-form-urlencoded"
BINARY = "application/octet-stream"
PROJECT = "/v1/projects/{project_id}"
SOURCE = f"{PROJECT}/datasources/{{datasource_id}}"
QUERY = f"{PROJECT}/queries/{{query_name}}"
RELEASE = f"{PROJECT}/releases/{{release_id}}"


def by(caller, **values):
    """Values that are functions are made of the world when the call is."""

    def recipe(world):
        made = {key: value(world) if callable(value) else value for key, value in values.items()}
        return caller, made

    return recipe


def by_owner(**values):
    return by("owner", **values)


def document(world):
    """The document of an API with one operation, as its text."""
    paths = '{"/shops": {"get": {"operationId": "shops", "responses": {}}}}'
    info = '{"title": "f", "version": "1"}'
    return f'{{"openapi": "3.1.0", "info": {info}, "servers": [{{"url": "{world.sample}"}}], "paths": {paths}}}'


def own_definition(world):
    """What is read can be put back."""
    return world.call("GET", f"{world.path}/definition").json()


RECIPES = {
    # Calls
    "GET /v1/queries/{query_name}": by("key", query={"region": "north"}),
    "POST /v1/query": by(
        "key", body=lambda world: {"query": "what are the top 5 coffee products", "project_id": world.project}
    ),
    # People, and clients that they let in
    "POST /v1/session/link": by("nobody", body=lambda world: {"token": world.link}),
    "POST /oauth/register": by("nobody", body={"client_name": "c", "redirect_uris": ["https://client.example/back"]}),
    "POST /oauth/token": by("nobody", body=lambda world: world.code_exchange(), media_type=FORM),
    "POST /oauth/revoke": by("nobody", body={"token": "t", "client_id": "c"}, media_type=FORM),
    "GET /v1/oauth/client": by_owner(
        query=lambda world: {"client_id": world.client, "redirect_uri": world.approval()["redirect_uri"]}
    ),
    "POST /v1/oauth/approvals": by_owner(body=lambda world: world.approval()),
    "POST /v1/api-keys": by_owner(
        body=lambda world: {"name": "k", "permissions": [{"project_id": world.project, "environments": "*"}]}
    ),
    "GET /v1/audit": by_owner(query=lambda world: {"project_id": world.project}),
    "GET /v1/audit/choices": by_owner(query=lambda world: {"project_id": world.project}),
    "GET /v1/audit/export": by_owner(query=lambda world: {"project_id": world.project}),
    # Data
    "POST /v1/http/test-connection": by_owner(body=lambda world: {"url": world.sample, "method": "GET"}),
    "POST /v1/http/execute-request": by_owner(body=lambda world: world.execution()),
    "POST /v1/http/import": by_owner(body=lambda world: {"text": document(world)}),
    f"GET {SOURCE}/authorization": by_owner(path=lambda world: {"datasource_id": world.connected_source()}),
    f"POST {SOURCE}/authorization": by_owner(path=lambda world: {"datasource_id": world.authorized_source()}),
    f"DELETE {SOURCE}/authorization": by_owner(path=lambda world: {"datasource_id": world.connected_source()}),
    "POST /v1/oauth/return": by_owner(body=lambda world: world.returned(world.authorized_source())),
    f"POST {SOURCE}/files": by_owner(
        path=lambda world: {"datasource_id": world.datasource(kind="file")},
        query={"filename": "a.csv"},
        body=b"id,name\n1,Ada\n",
        media_type=BINARY,
    ),
    "POST /v1/jobs/{job_id}/retry": by_owner(path=lambda world: {"job_id": world.failed_job()}),
    # Queries and releases
    f"POST {PROJECT}/queries/run": by_owner(body={"sql": "select count(*) as orders from orders"}),
    f"POST {QUERY}/rename": by_owner(
        path=lambda world: {"query_name": world.make("query_name")}, body=lambda world: {"name": f"q_{world.unique()}"}
    ),
    f"POST {QUERY}/preview": by_owner(body={"parameters": {"region": "north"}}),
    f"POST {QUERY}/explain": by_owner(body={"parameters": {"region": "north"}}),
    f"POST {QUERY}/rollback": by_owner(
        path=lambda world: {"query_name": world.deployed(versions=2)}, body={"environment": "production"}
    ),
    f"POST {QUERY}/undeploy": by_owner(
        path=lambda world: {"query_name": world.deployed()}, body={"environment": "production"}
    ),
    f"POST {QUERY}/promote": by_owner(
        path=lambda world: {"query_name": world.deployed()}, body={"from": "production", "to": "staging", "force": True}
    ),
    f"GET {QUERY}/diff": by_owner(query={"from": 1}),
    f"POST {RELEASE}/rollback": by_owner(path=lambda world: {"release_id": world.release()}, body={}),
    f"POST {RELEASE}/continue": by_owner(
        path=lambda world: {"release_id": world.release(canary={"percent": 10})}, body={"percent": 50}
    ),
    f"POST {PROJECT}/promote": by_owner(
        body=lambda world: {"from": world.environment_with_query(), "to": world.make("environment"), "force": True}
    ),
    f"PUT {PROJECT}/definition": by_owner(query={"check": "true"}, body=own_definition),
    f"GET {PROJECT}/replays/{{replay_id}}/calls/{{call_id}}": by_owner(
        path=lambda world: dict(zip(("replay_id", "call_id"), world.replay()))
    ),
    # Models, tests, APIs, links
    f"PUT {PROJECT}/models/{{model_name}}": by_owner(body={"sql": "select count(*) as n from orders"}),
    f"POST {PROJECT}/models/{{model_name}}/compare": by_owner(body={}),
    f"PUT {PROJECT}/tests": by_owner(body=lambda world: world.row_test()),
    f"POST {PROJECT}/query-links": by_owner(
        body=lambda world: {"query": world.deployed(), "parameters": {}, "expires_at": in_a_day()}
    ),
    "GET /v1/shared/{file}": by("nobody"),
    "POST /v1/shared-references/read": by("nobody", body=lambda world: {"token": world.shared_reference()[1]}),
    f"DELETE {PROJECT}/shared-references/{{environment}}": by_owner(
        path=lambda world: {"environment": world.shared_reference()[0]}
    ),
    # Questions and alerts
    f"POST {PROJECT}/alert-channels": by_owner(body=lambda world: world.shared_channel()),
    f"POST {PROJECT}/questions/resolve": by_owner(
        body=lambda world: {"questions": [world.missed_question()[0]], "as": "dismissed"}
    ),
    f"POST {PROJECT}/questions/{{request_id}}/report": by_owner(
        path=lambda world: {"request_id": world.make("request_id")}, body={"expected_query": "sales_by_region"}
    ),
    f"PUT {PROJECT}/evaluations/{{evaluation_id}}": by_owner(
        path=lambda world: {"evaluation_id": world.make("evaluation_id")},
        body=lambda world: {"question": f"Is {world.unique()} there?", "expected_query": None},
    ),
    f"POST {PROJECT}/alerts/{{alert_id}}/channels/{{channel_id}}/rotate": by_owner(body={}),
}
