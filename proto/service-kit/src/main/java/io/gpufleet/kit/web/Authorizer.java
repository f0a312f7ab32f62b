package io.gpufleet.kit.web;

/** Decides by the token of a request what its user may do. Implementations block. */
public interface Authorizer {
    /** Authenticates the bearer of a token and authorizes the access. */
    AccessResult authorize(String token, AccessRequest request);

    /** Whether a request without a token is refused before anybody is asked. */
    default boolean tokenRequired() {
        return true;
    }

    /** Allows everything to everybody, for servers that only programs of the same machine reach. */
    static Authorizer everybody() {
        return new Authorizer() {
            @Override
            public AccessResult authorize(String token, AccessRequest request) {
                return new AccessResult.Allowed("");
            }

            @Override
            public boolean tokenRequired() {
                return false;
            }
        };
    }

    /**
     * An access as Kubernetes authorizes it.
     *
     * @param group API group; empty for the core group
     * @param resource plural name
     * @param verb for example {@code get}
     * @param namespace empty for all namespaces, and for what has none
     * @param name empty for all names
     */
    record AccessRequest(String group, String resource, String verb, String namespace, String name) {}

    /** Result of an authorization. */
    sealed interface AccessResult {
        /** The user may do it. */
        record Allowed(String user) implements AccessResult {}

        /**
         * Nobody is known by that token.
         *
         * @param reason one line for its bearer
         */
        record Unauthenticated(String reason) implements AccessResult {
            /** A token of which nothing is known. */
            public Unauthenticated() {
                this("the API server does not know this token");
            }
        }

        /** The user may not do it; the denial says what. */
        record Forbidden(String user, String denial) implements AccessResult {}

        /** Nobody can tell now; the reason is one line. */
        record Unavailable(String reason) implements AccessResult {}
    }
}
