package io.gpufleet.runtime.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.kit.web.Authorizer;
import io.gpufleet.runtime.kubernetes.Reviews.Authentication;
import io.gpufleet.runtime.kubernetes.Reviews.User;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Authenticates tokens by TokenReview and authorizes users by SubjectAccessReview. Answers are remembered for 30 s, refusals
 * for 10 s, failures not at all.
 */
public final class ReviewAuthorizer implements Authorizer {
    private static final int MAX_ENTRIES = 10_000;
    private static final Duration POSITIVE = Duration.ofSeconds(30);
    private static final Duration NEGATIVE = Duration.ofSeconds(10);

    private record Access(User user, AccessRequest request) {}

    private final Reviews reviews;
    /** By hash: a token that is not kept cannot be read from a dump of the memory. */
    private final ExpiringCache<String, Authentication> tokens;

    private final ExpiringCache<Access, Boolean> decisions;

    /** Reviews through the client, which the caller closes; {@code nanos} is monotonic. */
    public ReviewAuthorizer(KubernetesClient client, LongSupplier nanos) {
        this(new KubernetesReviews(client), nanos);
    }

    ReviewAuthorizer(Reviews reviews, LongSupplier nanos) {
        this(reviews, nanos, MAX_ENTRIES);
    }

    private ReviewAuthorizer(Reviews reviews, LongSupplier nanos, int maxEntries) {
        this.reviews = reviews;
        this.tokens = new ExpiringCache<>(maxEntries, nanos);
        this.decisions = new ExpiringCache<>(maxEntries, nanos);
    }

    /** Asks for every request: for commands, where a right that was withdrawn counts at once. */
    public static ReviewAuthorizer uncached(KubernetesClient client) {
        return uncached(new KubernetesReviews(client));
    }

    static ReviewAuthorizer uncached(Reviews reviews) {
        return new ReviewAuthorizer(reviews, System::nanoTime, 0);
    }

    @Override
    public AccessResult authorize(String token, AccessRequest request) {
        try {
            return switch (authentication(token)) {
                case Authentication.Refused(AccessResult.Unauthenticated refused) -> refused;
                case Authentication.Authenticated(User user) ->
                    allowed(new Access(user, request))
                            ? new AccessResult.Allowed(user.name())
                            : new AccessResult.Forbidden(user.name(), denial(request));
            };
        } catch (KubernetesClientException failed) {
            return new AccessResult.Unavailable(ApiErrorMessage.of(failed));
        }
    }

    private Authentication authentication(String token) {
        String key = hash(token);
        return tokens.get(key).orElseGet(() -> {
            Authentication answer = reviews.authenticate(token);
            tokens.put(key, answer, answer instanceof Authentication.Authenticated ? POSITIVE : NEGATIVE);
            return answer;
        });
    }

    private boolean allowed(Access access) {
        Supplier<Boolean> review = () -> {
            boolean allowed = reviews.allowed(access.user(), access.request());
            decisions.put(access, allowed, allowed ? POSITIVE : NEGATIVE);
            return allowed;
        };
        return decisions.get(access).orElseGet(review);
    }

    private static String denial(AccessRequest request) {
        String resource = request.group().isEmpty() ? request.resource() : request.resource() + "." + request.group();
        return "not allowed to " + request.verb() + " " + resource
                + (request.name().isEmpty() ? "" : "/" + request.name())
                + (request.namespace().isEmpty() ? "" : " in " + request.namespace());
    }

    private static String hash(String token) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(token.getBytes(UTF_8)));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every JDK has SHA-256", impossible);
        }
    }
}
