package io.gpufleet.compose.kubeapi.rest;

import io.gpufleet.compose.kubeapi.admission.Question.User;
import io.gpufleet.compose.kubeapi.object.ApiError;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Bearer tokens and whom they stand for. There is no RBAC: whoever is known may do everything on the API itself.
 *
 * @param users by token
 */
public record Tokens(Map<String, User> users) {
    /** The group whose members SubjectAccessReview allows everything; everybody else is allowed nothing. */
    static final String MASTERS = "system:masters";

    /** The administrator's token, which is what the kubeconfig carries. */
    public static final String ADMIN = "admin";

    /** Only the administrator. */
    public static Tokens adminOnly() {
        return new Tokens(Map.of(ADMIN, new User("admin", List.of(MASTERS, "system:authenticated"))));
    }

    Optional<User> user(String token) {
        return Optional.ofNullable(users.get(token));
    }

    /** Who sends a request; without any token it is the administrator, as this is one person's machine. */
    User caller(String authorization) {
        if (!authorization.startsWith("Bearer ")) {
            return new User("admin", List.of(MASTERS, "system:authenticated"));
        }
        return user(authorization.substring("Bearer ".length()).strip()).orElseThrow(ApiError::unauthorized);
    }
}
