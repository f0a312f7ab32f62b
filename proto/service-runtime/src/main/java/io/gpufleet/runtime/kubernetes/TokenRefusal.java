package io.gpufleet.runtime.kubernetes;

import io.gpufleet.kit.web.Authorizer.AccessResult.Unauthenticated;
import java.util.List;

/**
 * Maps the error of a TokenReview to a line by which the bearer of the token can act. Its own text is not passed on: one of
 * OpenID Connect names issuers and audiences.
 */
final class TokenRefusal {
    private static final String GET_ANOTHER = ": get a new one, for a ServiceAccount by kubectl create token NAME";

    /** As the authenticators of Kubernetes word them; each is found out after the signature was verified. */
    private static final List<String> BEARER_GONE =
            List.of("has been deleted", "has been invalidated", "marked invalid", "UID (", "not found");

    private TokenRefusal() {}

    static Unauthenticated of(String error) {
        if (error.contains("expired")) {
            return new Unauthenticated("this token has expired" + GET_ANOTHER);
        }
        if (BEARER_GONE.stream().anyMatch(error::contains)) {
            return new Unauthenticated(
                    "this token was invalidated when its ServiceAccount, or the pod or Secret that it is"
                            + " bound to, was deleted" + GET_ANOTHER);
        }
        if (error.contains("audience")) {
            return new Unauthenticated(
                    "this token is for another audience than the API server" + GET_ANOTHER + ", without --audience");
        }
        return new Unauthenticated();
    }
}
