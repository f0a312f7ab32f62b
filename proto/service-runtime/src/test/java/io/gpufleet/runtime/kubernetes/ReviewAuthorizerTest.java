package io.gpufleet.runtime.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.kit.web.Authorizer.AccessRequest;
import io.gpufleet.kit.web.Authorizer.AccessResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which reviews are asked, and which are remembered. */
class ReviewAuthorizerTest {
    private static final AccessRequest LIST = new AccessRequest("gpufleet.io", "nodes", "list", "", "");
    private static final AccessRequest PODS = new AccessRequest("", "pods", "list", "ml", "");

    private final List<String> asked = new ArrayList<>();
    private boolean away;
    private long nanos;
    private final Reviews reviews = new Reviews() {
        @Override
        public Optional<User> user(String token) {
            asked.add("token");
            if (away) {
                throw new KubernetesClientException("connection refused\nat line 2");
            }
            return Optional.of(new User(token, List.of("team"))).filter(user -> !token.equals("unknown"));
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
