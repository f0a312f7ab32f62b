package io.gpufleet.allocation.http;

import io.gpufleet.kit.web.Authorizer;

/** Knows an administrator, who may do everything, and a team with rights in the namespace of its name. */
final class FakeAuthorizer implements Authorizer {
    @Override
    public AccessResult authorize(String token, AccessRequest request) {
        return switch (token) {
            case "admin" -> new AccessResult.Allowed(token);
            case "down" -> new AccessResult.Unavailable("the API server does not answer");
            case "team-a" ->
                request.namespace().equals(token)
                        ? new AccessResult.Allowed(token)
                        : new AccessResult.Forbidden(token, "not allowed to list " + request.resource());
            default -> new AccessResult.Unauthenticated();
        };
    }
}
