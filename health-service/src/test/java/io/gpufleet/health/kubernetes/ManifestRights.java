package io.gpufleet.health.kubernetes;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBuilder;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.gpufleet.kit.tls.PrivateKeyAlgorithm;
import io.gpufleet.testbed.testkit.Repository;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** A ServiceAccount of the API server of GPUFLEET_TEST_KUBECONFIG that may do what some manifests allow, and nothing else. */
public final class ManifestRights implements AutoCloseable {
    private static final String NAMESPACE = "default";

    private final List<HasMetadata> granted = new ArrayList<>();
    private final KubernetesClient admin;
    private final KubernetesClient limited;
    private final String account;
    private final String token;

    private ManifestRights(KubernetesClient admin, String account) {
        this.admin = admin;
        this.account = account;
        make(new ServiceAccountBuilder()
                .withNewMetadata()
                .withName(account)
                .withNamespace(NAMESPACE)
                .endMetadata()
                .build());
        this.token = admin.serviceAccounts()
                .inNamespace(NAMESPACE)
                .withName(account)
                .tokenRequest(new TokenRequestBuilder()
                        .withNewSpec()
                        .withExpirationSeconds(3_600L)
                        .endSpec()
                        .build())
                .getStatus()
                .getToken();
        Config administrator = admin.getConfiguration();
        // Of the administrator only the way to the server: a certificate would win over the token.
        this.limited = new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(Config.empty())
                        .withMasterUrl(administrator.getMasterUrl())
                        .withCaCertData(administrator.getCaCertData())
                        .withCaCertFile(administrator.getCaCertFile())
                        .withOauthToken(token)
                        .withRequestRetryBackoffLimit(0)
                        .build())
                .build();
    }

    /** Grants the cluster roles of these files to a ServiceAccount of this name. */
    public static ManifestRights grant(String account, List<String> files) throws IOException {
        var rights = new ManifestRights(
                new KubernetesClientBuilder().withConfig(config()).build(), account);
        for (String file : files) {
            rights.load(file).forEach(rights::grant);
        }
        return rights;
    }

    /** Grants one cluster role of a file, and rules that the manifests leave to the administrator. */
    public static ManifestRights grantRole(String account, String file, String role, List<PolicyRule> more)
            throws IOException {
        ManifestRights rights = grant(account, List.of());
        rights.load(file).stream()
                .filter(object -> object.getMetadata().getName().equals(role))
                .forEach(rights::grant);
        rights.grant(new ClusterRoleBuilder()
                .withNewMetadata()
                .withName("more")
                .endMetadata()
                .withRules(more)
                .build());
        return rights;
    }

    /** Client of an administrator. */
    public KubernetesClient admin() {
        return admin;
    }

    /** Client with the token of the account. */
    public KubernetesClient limited() {
        return limited;
    }

    /** Token of the account, for an hour. */
    public String token() {
        return token;
    }

    /** Writes a kubeconfig of the account. */
    public Path kubeconfig(Path file) throws IOException {
        return Files.writeString(file, """
                apiVersion: v1
                kind: Config
                clusters: [{name: it, cluster: {server: "%s", certificate-authority-data: %s}}]
                users: [{name: it, user: {token: "%s"}}]
                contexts: [{name: it, context: {cluster: it, user: it}}]
                current-context: it
                """.formatted(
                        admin.getMasterUrl(),
                        Base64.getEncoder().encodeToString(ClusterTrust.authority(admin.getConfiguration())),
                        token));
    }

    /** Creates the objects of a file; what was not there before goes again. */
    public void install(String file) throws IOException {
        load(file).forEach(object -> {
            if (admin.resource(object).get() == null) {
                granted.add(object);
            }
            admin.resource(object).unlock().createOr(edit -> edit.update());
        });
    }

    private List<HasMetadata> load(String file) throws IOException {
        try (InputStream yaml = Files.newInputStream(Repository.module(file))) {
            return admin.load(yaml).items();
        }
    }

    /** The rules of the manifests under names of this test: somebody else may have installed them. */
    private void grant(HasMetadata object) {
        if (object instanceof ClusterRole role) {
            String name = account + "-" + role.getMetadata().getName();
            role.getMetadata().setName(name);
            var binding = new ClusterRoleBindingBuilder()
                    .withNewMetadata()
                    .withName(name)
                    .endMetadata()
                    .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", name)
                    .addNewSubject("", "ServiceAccount", account, NAMESPACE)
                    .build();
            make(role);
            make(binding);
        }
    }

    private void make(HasMetadata object) {
        granted.add(object);
        admin.resource(object).unlock().createOr(edit -> edit.update());
    }

    private static Config config() throws IOException {
        Config config = Config.fromKubeconfig(Files.readString(Path.of(System.getenv("GPUFLEET_TEST_KUBECONFIG"))));
        config.setClientKeyAlgo(PrivateKeyAlgorithm.of(config.getClientKeyData(), config.getClientKeyFile()));
        config.setRequestRetryBackoffLimit(0);
        return config;
    }

    @Override
    public void close() {
        granted.forEach(object -> {
            admin.resource(object).delete();
            // The next test may install it anew.
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> admin.resource(object).get() == null);
        });
        limited.close();
        admin.close();
    }
}
