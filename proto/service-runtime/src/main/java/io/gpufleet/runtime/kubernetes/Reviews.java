package io.gpufleet.runtime.kubernetes;

import io.gpufleet.kit.web.Authorizer.AccessRequest;
import java.util.List;
import java.util.Optional;

/** Reviews of tokens and users by the API server; each call is one request, and fails with the client's exception. */
interface Reviews {
    /** A user with the groups that its rights may come from. */
    record User(String name, List<String> groups) {
        public User {
            groups = List.copyOf(groups);
        }
    }

    /** The user of a token, empty if nobody is known by it. */
    Optional<User> user(String token);

    /** Whether a user may do something. */
    boolean allowed(User user, AccessRequest request);
}
