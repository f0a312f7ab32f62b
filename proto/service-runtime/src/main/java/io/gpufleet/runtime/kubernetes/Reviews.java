package io.gpufleet.runtime.kubernetes;

import io.gpufleet.kit.web.Authorizer.AccessRequest;
import io.gpufleet.kit.web.Authorizer.AccessResult.Unauthenticated;
import java.util.List;

/** Reviews of tokens and users by the API server; each call is one request, and fails with the client's exception. */
interface Reviews {
    /** A user with the groups that its rights may come from. */
    record User(String name, List<String> groups) {
        public User {
            groups = List.copyOf(groups);
        }
    }

    /** Result of the review of a token. */
    sealed interface Authentication {
        /** The user of the token. */
        record Authenticated(User user) implements Authentication {}

        /** Nobody is known by the token. */
        record Refused(Unauthenticated result) implements Authentication {}
    }

    /** Reviews a token. */
    Authentication authenticate(String token);

    /** Whether a user may do something. */
    boolean allowed(User user, AccessRequest request);
}
