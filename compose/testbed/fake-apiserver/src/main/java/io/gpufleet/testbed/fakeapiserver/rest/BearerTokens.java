package io.gpufleet.testbed.fakeapiserver.rest;

import io.gpufleet.testbed.fakeapiserver.admission.AdmissionAttributes.UserInfo;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Bearer tokens with their users. There is no RBAC: every known user may do everything.
 *
 * @param users by token
 */
public record BearerTokens(Map<String, UserInfo> users) {
    /** The group to which SubjectAccessReview allows everything; all others are denied. */
    static final String MASTERS = "system:masters";

    /** The token of the administrator, which is in the kubeconfig. */
    public static final String ADMIN = "admin";

    /** The token of the administrator only. */
    public static BearerTokens adminOnly() {
        return new BearerTokens(Map.of(ADMIN, new UserInfo("admin", List.of(MASTERS, "system:authenticated"))));
    }

    Optional<UserInfo> user(String token) {
        return Optional.ofNullable(users.get(token));
    }

    /** The user of a request; without a token the administrator, since the server is for one machine. */
    UserInfo authenticate(String authorization) {
        if (!authorization.startsWith("Bearer ")) {
            return new UserInfo("admin", List.of(MASTERS, "system:authenticated"));
        }
        return user(authorization.substring("Bearer ".length()).strip()).orElseThrow(ApiError::unauthorized);
    }
}
