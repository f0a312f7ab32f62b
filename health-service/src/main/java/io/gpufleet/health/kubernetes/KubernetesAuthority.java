package io.gpufleet.health.kubernetes;

import io.fabric8.kubernetes.api.model.authentication.TokenReview;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewBuilder;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpufleet.health.app.Authority;
import java.util.List;
import java.util.Objects;

/** Asks the API server who a token is (TokenReview) and whether they may (SubjectAccessReview). */
public final class KubernetesAuthority implements Authority {
    private final KubernetesClient client;

    /** Asks with the client, which stays the caller's to close. */
    public KubernetesAuthority(KubernetesClient client) {
        this.client = client;
    }

    @Override
    public Verdict ask(String token, Deed deed) {
        try {
            TokenReview review = client.tokenReviews()
                    .create(new TokenReviewBuilder()
                            .withNewSpec()
                            .withToken(token)
                            .endSpec()
                            .build());
            if (review.getStatus() == null
                    || !Boolean.TRUE.equals(review.getStatus().getAuthenticated())
                    || review.getStatus().getUser() == null) {
                return new Verdict.Unknown();
            }
            return may(review.getStatus().getUser(), deed);
        } catch (KubernetesClientException failed) {
            return new Verdict.Unanswered(Trouble.oneLine(failed));
        }
    }

    private Verdict may(UserInfo user, Deed deed) {
        List<String> groups = Objects.requireNonNullElse(user.getGroups(), List.of());
        SubjectAccessReview review = client.authorization()
                .v1()
                .subjectAccessReview()
                .create(new SubjectAccessReviewBuilder()
                        .withNewSpec()
                        .withUser(user.getUsername())
                        .withGroups(groups)
                        .withNewResourceAttributes()
                        .withGroup("gpufleet.io")
                        .withResource(deed.resource())
                        .withVerb(deed.verb())
                        .withName(deed.name())
                        .endResourceAttributes()
                        .endSpec()
                        .build());
        boolean allowed = review.getStatus() != null
                && Boolean.TRUE.equals(review.getStatus().getAllowed());
        return allowed
                ? new Verdict.Allowed(user.getUsername())
                : new Verdict.Forbidden(
                        user.getUsername(),
                        "not allowed to " + deed.verb() + " " + deed.resource() + ".gpufleet.io/" + deed.name());
    }
}
