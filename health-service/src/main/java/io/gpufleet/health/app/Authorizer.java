package io.gpufleet.health.app;

/** Port: authentication and authorization of operators. Blocks; does not throw. */
public interface Authorizer {
    /** Requested access to a resource of API group {@code gpufleet.io}. */
    record AccessRequest(String verb, String resource, String name) {}

    /** Authenticates the bearer of a token and authorizes the request. */
    AccessResult authorize(String token, AccessRequest request);

    /** Result of a request. */
    sealed interface AccessResult {
        /** The user is allowed. */
        record Allowed(String user) implements AccessResult {}

        /** The token is unknown. */
        record Unauthenticated() implements AccessResult {}

        /** The user is not allowed. */
        record Forbidden(String user, String reason) implements AccessResult {}

        /** The API server did not answer; one line. */
        record Unavailable(String reason) implements AccessResult {}
    }
}
