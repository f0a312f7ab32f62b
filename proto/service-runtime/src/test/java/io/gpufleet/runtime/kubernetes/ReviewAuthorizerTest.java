package io.gpufleet.runtime.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.kit.web.Authorizer.AccessRequest;
import io.gpufleet.kit.web.Authorizer.AccessResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which reviews are asked, and which are remembered. */
class ReviewAuthorizerTest {
    private static final AccessRequest LIST = new AccessRequest("gpufleet.io", "nodes", "list", "", "");
    private static final AccessRequest PODS = new AccessRequest("", "pods", "list", "ml", "");

    private final List<String> asked = new ArrayList<>();
    private boolean away;
    private long nanos;
    private final Reviews reviews = new Reviews() {
        @Override
        public Authentication authenticate(String token) {
            asked.add("token");
            if (away) {
                throw new KubernetesClientException("connection refused\nat line 2");
            }
            return switch (token) {
                case "unknown" -> new Authentication.Refused(new AccessResult.Unauthenticated());
                case "expired" ->
                    new Authentication.Refused(
                            TokenRefusal.of("[invalid bearer token, service account token has expired]"));
                default -> new Authentication.Authenticated(new User(token, List.of("team")));
            };
        }

        @Override
        public boolean allowed(User user, AccessRequest request) {
            asked.add(user.name() + " " + request.resource());
            return request.equals(LIST);
        }
    };
    private final ReviewAuthorizer authorizer = new ReviewAuthorizer(reviews, () -> nanos);

    private void pass(Duration time) {
        nanos += time.toNanos();
    }

    @Test
    void answersAreRememberedForHalfAMinuteAndRefusalsForTenSeconds() {
        for (int i = 0; i < 3; i++) {
            assertThat(authorizer.authorize("ann", LIST)).isEqualTo(new AccessResult.Allowed("ann"));
            assertThat(authorizer.authorize("ann", PODS))
                    .isEqualTo(new AccessResult.Forbidden("ann", "not allowed to list pods in ml"));
        }
        assertThat(asked).containsExactly("token", "ann nodes", "ann pods");

        asked.clear();
        pass(Duration.ofSeconds(10));
        authorizer.authorize("ann", LIST);
        authorizer.authorize("ann", PODS);
        assertThat(asked).containsExactly("ann pods");

        asked.clear();
        pass(Duration.ofSeconds(20));
        authorizer.authorize("ann", LIST);
        assertThat(asked).containsExactly("token", "ann nodes");
    }

    @Test
    void uncachedAuthorizerAsksForEveryRequest() {
        ReviewAuthorizer uncached = ReviewAuthorizer.uncached(reviews);

        uncached.authorize("ann", LIST);
        uncached.authorize("ann", LIST);

        assertThat(asked).containsExactly("token", "ann nodes", "token", "ann nodes");
    }

    @Test
    void unknownTokenIsUnauthenticatedAndAsksForNoAccess() {
        assertThat(authorizer.authorize("unknown", LIST)).isEqualTo(new AccessResult.Unauthenticated());
        assertThat(authorizer.authorize("unknown", LIST)).isEqualTo(new AccessResult.Unauthenticated());
        assertThat(asked).containsExactly("token");
    }

    @Test
    void expiredTokenIsToldFromAnUnknownOne() {
        for (int i = 0; i < 2; i++) {
            assertThat(authorizer.authorize("expired", LIST))
                    .isEqualTo(new AccessResult.Unauthenticated("this token has expired: get a new one, for a"
                            + " ServiceAccount by kubectl create token NAME"));
        }
        assertThat(asked).containsExactly("token");
    }

    @ParameterizedTest
    @CsvSource({
        "'[invalid bearer token, oidc: verify token: oidc: token is expired (Token Expiry: 2026-01-01)]', has expired",
        "'[invalid bearer token, service account default/ann has been deleted]', was deleted",
        "'[invalid bearer token, service account token has been invalidated]', was deleted",
        "'[invalid bearer token, service account UID (2) does not match claim (1)]', was deleted",
        "'[invalid bearer token, token audiences [\"a\"] is invalid for the target audiences [\"b\"]]', another audience",
        "'invalid bearer token', does not know",
        "'', does not know"
    })
    void errorOfAReviewBecomesALineForTheBearer(String error, String line) {
        assertThat(TokenRefusal.of(error).reason()).contains(line);
    }

    @Test
    void failureIsOneLineAndNotRemembered() {
        away = true;
        assertThat(authorizer.authorize("ann", LIST)).isEqualTo(new AccessResult.Unavailable("connection refused"));
        away = false;
        assertThat(authorizer.authorize("ann", LIST)).isEqualTo(new AccessResult.Allowed("ann"));
    }

    @Test
    void usersOfOneTokenEachHaveTheirOwnRights() {
        authorizer.authorize("ann", LIST);
        authorizer.authorize("bob", LIST);
        assertThat(asked).containsExactly("token", "ann nodes", "token", "bob nodes");
    }
}
