package io.gpufleet.health.kubernetes;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.client.Config;
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
import java.util.List;

/** A user of the API server of GPUFLEET_TEST_KUBECONFIG who may do what some manifests allow, and nothing else. */
public final class ManifestRights implements AutoCloseable {
    private final List<HasMetadata> granted = new ArrayList<>();
    private final KubernetesClient admin;
    private final KubernetesClient limited;
    private final String user;

    private ManifestRights(KubernetesClient admin, KubernetesClient limited, String user) {
        this.admin = admin;
        this.limited = limited;
        this.user = user;
    }

    /** Grants the cluster roles of these files to a user of this name. */
    public static ManifestRights grant(String user, List<String> files) throws IOException {
        Config impersonating = config();
        impersonating.setImpersonateUsername(user);
        var rights = new ManifestRights(
                new KubernetesClientBuilder().withConfig(config()).build(),
                new KubernetesClientBuilder().withConfig(impersonating).build(),
                user);
        for (String file : files) {
            rights.load(file).forEach(rights::grant);
        }
        return rights;
    }

    /** Client of an administrator. */
    public KubernetesClient admin() {
        return admin;
    }

    /** Client of the user. */
    public KubernetesClient limited() {
        return limited;
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
            String name = user + "-" + role.getMetadata().getName();
            role.getMetadata().setName(name);
            var binding = new ClusterRoleBindingBuilder()
                    .withNewMetadata()
                    .withName(name)
                    .endMetadata()
                    .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", name)
                    .addNewSubject("rbac.authorization.k8s.io", "User", user, null)
                    .build();
            List.of(role, binding).forEach(made -> {
                granted.add(made);
                admin.resource(made).unlock().createOr(edit -> edit.update());
            });
        }
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
