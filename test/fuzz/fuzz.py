"""Calls every operation of the OpenAPI document with generated requests, as everybody, and judges every answer.

Zero 500s; every answer has a status, a media type and a shape that the document names; what the document allows is not
refused for its shape. At the end every operation has succeeded at least once.
"""

import argparse
import random
import re
import sys
import time
from zoneinfo import available_timezones

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings, strategies
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from recipes import RECIPES
from upstream import open_token_endpoint
from world import World

STREAMS = ("/jobs/events", "/requests/events")
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
# A refusal of the shape of a request, as opposed to one of what it says.
SHAPE_REFUSED = re.compile(r"The (body|querystring|params|headers) (is|are) not as expected: ")
# What JSON Schema cannot say, by the words of the refusal.
BEYOND_SCHEMAS = (
    "has more decimals than digits",
    # Of a list, that no two are of one name.
    "name a query twice",
    # Of a list, what its last item has not.
    "end with a request that waits",
    # Which schemes and hosts lead back to a program, and not into a browser.
    "must be an https address, an http address of this machine, or one with a scheme of its own",
    "is no address",
    # Of the parameters for an authorization server.
    "names what the protocol itself says",
)

# A format of ours, which JSON Schema leaves to whoever uses it.
schemathesis.openapi.format("time-zone", strategies.sampled_from(sorted(available_timezones() - {"localtime", "Factory"})))


def likely(value, words, chance, name=None):
    """The same value with some of its fields as they would be in life."""
    if isinstance(value, dict):
        return {key: likely(each, words, chance, key) for key, each in value.items()}
    if isinstance(value, list):
        return [likely(each, words, chance, name) for each in value]
    if isinstance(value, str) and name in words and (name in ("url", "token_url") or chance.random() < 0.7):
        return chance.choice(words[name])
    return value


class Fuzzer:
    def __init__(self, world, options):
        self.world = world
        self.options = options
        self.schema = schemathesis.openapi.from_url(f"{world.url}/v1/openapi.json", timeout=120)
        self.successes = {}
        self.failures = {}
        self.calls = 0
        self.deadline = time.monotonic() + options.minutes * 60

    def run(self):
        for found in self.schema.get_all_operations():
            operation = found.ok()
            if self.options.only and self.options.only not in operation.label:
                continue
            self.successes[operation.label] = 0
            self.follow_recipe(operation)
            for caller in self.world.callers:
                for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                    if time.monotonic() > self.deadline:
                        print(f"FAILED {operation.label}: not reached within {self.options.minutes} minutes", flush=True)
                        return 1
                    self.fuzz(operation, caller, mode)
        return self.report()

    def follow_recipe(self, operation):
        """A call that succeeds, for what chance would not bring about."""
        recipe = RECIPES.get(operation.label)
        if recipe is None:
            return
        caller, values = recipe(self.world)
        path_parameters = {**self.world.ids, **values.get("path", {})}
        names = re.findall(r"{(\w+)}", operation.path)
        media_type = values.get("media_type", "application/json")
        case = operation.Case(
            path_parameters={name: path_parameters[name] for name in names},
            query=values.get("query", {}),
            **({"body": values["body"], "media_type": media_type} if "body" in values else {}),
        )
        answer = self.send(case, caller, GenerationMode.POSITIVE)
        if answer.status_code >= 300:
            self.note(operation.label, caller, f"its recipe did not succeed: {answer.status_code} {answer.text[:300]}")

    def fuzz(self, operation, caller, mode):
        # Of those who are refused whatever they say, a few are enough.
        many = caller == "owner" or (caller == "key" and operation.path in ("/v1/key", "/v1/query", "/v1/queries/{query_name}"))
        examples = self.options.examples if many else max(2, self.options.examples // 3)
        try:
            strategy = operation.as_strategy(generation_mode=mode)
        except Exception:
            return  # Nothing about it can be wrong.
        chance = random.Random(f"{self.options.seed} {operation.label} {caller} {mode}")

        @seed(hash_of(self.options.seed, operation.label, caller, mode))
        @settings(
            max_examples=examples,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=strategy)
        def judge(case):
            self.judge(case, caller, mode, chance)

        try:
            judge()
        except Exception as error:  # Hypothesis found no such request, or could not make one.
            if type(error).__name__ not in ("Unsatisfiable", "SkipTest"):
                self.note(operation.label, caller, f"could not be generated: {type(error).__name__}: {str(error)[:300]}")

    def judge(self, case, caller, mode, chance):
        self.fill(case, caller, mode, chance)
        self.send(case, caller, mode)

    def send(self, case, caller, mode):
        label = case.operation.label
        session = self.world.callers[caller]
        if case.operation.path.endswith(STREAMS):
            with session.get(self.world.url + case.formatted_path, params=case.query, stream=True, timeout=30) as answer:
                if answer.status_code >= 500:
                    self.note(label, caller, f"{answer.status_code}")
                elif answer.status_code == 200:
                    self.successes[label] += 1
            return answer
        answer = case.call(base_url=self.world.url, session=session, timeout=60)
        self.calls += 1
        # Who has no session gets none by a sign-in of chance.
        if caller not in self.world.people:
            session.cookies.clear()
        if answer.status_code < 300:
            self.successes[label] += 1
            if label == "DELETE /v1/session" or (label.startswith(("POST /v1/session", "POST /v1/invitations/accept"))):
                if caller in self.world.people:
                    self.world.sign_in(caller)
        checks = list(CHECKS)
        # 503 and 504 are promises of the document: busy, and too slow an external API.
        if answer.status_code in (502, 503, 504):
            checks.remove(not_a_server_error)
        try:
            case.validate_response(answer, checks=checks)
        except (Exception, BaseExceptionGroup) as error:
            self.note(label, caller, f"{answer.status_code}: {first_line(error)} | {describe(case)} → {answer.text[:300]}")
        if mode == GenerationMode.POSITIVE and answer.status_code == 400:
            message = answer.json().get("message", "")
            if SHAPE_REFUSED.match(message) and not any(rule in message for rule in BEYOND_SCHEMAS):
                self.note(label, caller, f"the document allows it, the server does not: {message[:300]} | {describe(case)}")
        return answer

    def fill(self, case, caller, mode, chance):
        """Real ids where there are any, and something new where the call would use it up."""
        names = re.findall(r"{(\w+)}", case.operation.path)
        for at, name in enumerate(names):
            if mode == GenerationMode.NEGATIVE and chance.random() < 0.3:
                continue
            known = self.world.ids.get(name)
            if caller == "owner" and case.operation.label == "PUT /v1/projects/{project_id}/definition":
                known = self.world.spare_project
            is_last = at == len(names) - 1
            if is_last and caller == "owner" and uses_up(case.operation.label):
                known = self.world.make(name) or known
            if known is not None:
                case.path_parameters[name] = known
        # Without the region every call of the example query would lack something.
        if case.operation.label == "POST /v1/queries/{query_name}" and mode == GenerationMode.POSITIVE:
            case.body = {"region": "north"}
        if case.operation.label == "POST /v1/invitations/read" or case.operation.label == "POST /v1/invitations/accept":
            if mode == GenerationMode.POSITIVE and isinstance(case.body, dict):
                case.body = {**case.body, "token": self.world.join_link()}
        if isinstance(case.body, (dict, list)):
            words = self.world.dictionary()
            if case.operation.path != "/v1/query":
                # Elsewhere it is the name of one.
                words = {**words, "query": words["query_name"]}
            case.body = likely(case.body, words, chance)
            if case.operation.label == "POST /v1/invitations/accept" and "email" in case.body:
                case.body["email"] = f"{self.world.unique()}@example.org"
        if case.operation.label == "PATCH /v1/session/user" and isinstance(case.body, dict):
            # The fuzzer would lock itself out.
            for name in ("email", "password"):
                case.body.pop(name, None)

    def note(self, label, caller, text):
        key = (label, text.split(" | ")[0][:160])
        if key not in self.failures:
            self.failures[key] = text
            print(f"FAILED {label} as {caller}: {text}\n", flush=True)

    def report(self):
        silent = [label for label, count in self.successes.items() if count == 0]
        for label in silent:
            print(f"FAILED {label}: no call succeeded, so no answer of its own was seen")
        succeeded = sum(1 for count in self.successes.values() if count > 0)
        print(f"seed {self.options.seed}: {self.calls} calls of {len(self.successes)} operations, {succeeded} answered")
        print(f"{len(self.failures) + len(silent)} failed")
        return 1 if self.failures or silent else 0


def uses_up(label):
    acts = ("/cancel", "/retry", "/rotate", "/disable", "/undeploy", "/rename", "/report", "/confirm")
    return label.startswith("DELETE ") or (label.startswith("POST ") and label.endswith(acts))


def hash_of(*parts):
    return random.Random(" ".join(map(str, parts))).getrandbits(32)


def first_line(error):
    texts = [str(each) for each in getattr(error, "exceptions", [error])]
    return " ".join(" ".join(texts).split())[:300]


def describe(case):
    return f"{case.method} {case.formatted_path} query={case.query!r} body={str(case.body)[:300]!r}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--token", required=True)
    parser.add_argument("--link", required=True, help="the secret of the link to sign in with, once")
    parser.add_argument("--upstream-port", type=int, required=True, help="where our authorization server listens")
    parser.add_argument("--seed", required=True)
    parser.add_argument("--examples", type=int, default=6)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--only")
    options = parser.parse_args()
    upstream = open_token_endpoint(options.upstream_port)
    sys.exit(Fuzzer(World(options.url, options.token, options.link, upstream), options).run())
