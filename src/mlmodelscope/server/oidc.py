"""Tokens of somebody else's: JWTs of an OpenID Connect issuer, believed after they have been checked with its keys."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from mlmodelscope.errors import UsageError
from mlmodelscope.extras import install_extra
from mlmodelscope.ledger.tokens import SCOPES, Person
from mlmodelscope.provision.web import WebError, read_url
from mlmodelscope.server.config import Config

_LOG = logging.getLogger("mlmodelscope.server")
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signed with a key that only the issuer has: neither `none` nor HS256, whose key would be the public one."""
_SKEW_S = 60
_LONGEST_TOKEN = 16_384
_KEYS_FOR_S = 3600.0
_ASK_EVERY_S = 30.0
_LARGEST = 1 << 20
_LONGEST_OWNER = 90


class Issuer:
    """Who vouches for people: its keys are fetched when they are needed and kept for an hour."""

    def __init__(self, config: Config) -> None:
        try:
            import jwt
        except ModuleNotFoundError:
            raise UsageError("the package PyJWT is missing", hint=install_extra("oidc")) from None
        if not config.oidc_issuer or not config.oidc_audience:
            raise UsageError("`oidc_issuer` and `oidc_audience` go together")
        if not config.oidc_issuer.startswith(("https://", "http://127.0.0.1:", "http://localhost:")):
            raise UsageError("`oidc_issuer` must be an https address: whoever is on the way could be anybody")
        self._jwt, self._config = jwt, config
        self._keys: dict[str, Any] = {}
        self._until = 0.0
        self._asked = float("-inf")
        self._lock = threading.Lock()

    def person(self, token: str) -> Person | None:
        """Whose token it is; None where it is not a good one."""
        config, jwt = self._config, self._jwt
        if len(token) > _LONGEST_TOKEN:
            return None
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in _ALGORITHMS:
                return None
            key = self._key(str(header.get("kid", "")))
            if key is None:
                return None
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=_ALGORITHMS,
                audience=config.oidc_audience,
                issuer=config.oidc_issuer,
                leeway=_SKEW_S,
                options={"require": ["exp", "iat", "iss", "aud", "sub"]},
            )
        except jwt.PyJWTError as error:
            _LOG.info("a token of the issuer was refused: %s", type(error).__name__)
            return None
        return Person(_owner(claims, config.oidc_owner), _scopes(claims, config), expires_at=_expiry(claims))

    def _key(self, name: str) -> Any:
        """The issuer's key of that name. An unknown one may be new; whoever makes names up cannot have us ask often."""
        with self._lock:
            moment = time.monotonic()
            wanted = name not in self._keys or moment > self._until
            if wanted and moment - self._asked > (_ASK_EVERY_S if self._keys else 1.0):
                self._asked = moment
                try:
                    self._keys, self._until = self._fetch(), moment + _KEYS_FOR_S
                except (WebError, ValueError, KeyError, TypeError, AttributeError, self._jwt.PyJWTError) as error:
                    # Those that are known stay good: an issuer that is away must not lock everybody out.
                    _LOG.warning("the issuer's keys cannot be had: %s", type(error).__name__)
            return self._keys.get(name)

    def _fetch(self) -> dict[str, Any]:
        assert self._config.oidc_issuer is not None
        document = _read(self._config.oidc_issuer.rstrip("/") + "/.well-known/openid-configuration")
        if document["issuer"] != self._config.oidc_issuer:
            raise ValueError("another issuer answers there")
        keys = _read(str(document["jwks_uri"]))["keys"]
        found = {}
        for each in keys:
            if each.get("use", "sig") == "sig" and each.get("kty") in ("RSA", "EC", "OKP"):
                found[str(each.get("kid", ""))] = self._jwt.PyJWK(each)
        return found


def _read(url: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(read_url(url, _LARGEST).body)
    return found


def _owner(claims: dict[str, Any], claim: str) -> str:
    """Marked, so that nobody is taken for the owner of one of our own tokens."""
    name = str(claims.get(claim) or claims["sub"])
    if len(name) > _LONGEST_OWNER or not name.isprintable():
        name = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()
    return f"oidc:{name}"


def _scopes(claims: dict[str, Any], config: Config) -> frozenset[str]:
    """What the claim's words mean here; words that mean nothing here give nothing."""
    value: Any = claims
    for part in config.oidc_claim.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    words = value.split() if isinstance(value, str) else value if isinstance(value, list) else []
    found: set[str] = set()
    for word in words:
        found |= set(config.oidc_scopes.get(str(word), ()))
    return frozenset(found & set(SCOPES))


def _expiry(claims: Mapping[str, Any]) -> datetime | None:
    """In UTC without saying so, as the ledger keeps moments."""
    try:
        return datetime.fromtimestamp(float(claims["exp"]), UTC).replace(tzinfo=None)
    except (OverflowError, ValueError, OSError):  # beyond the calendar
        return None
