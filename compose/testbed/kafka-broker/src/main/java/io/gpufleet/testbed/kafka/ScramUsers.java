package io.gpufleet.testbed.kafka;

import java.util.Collection;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialAlteration;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;

/** Users of the secured listener of a broker, made by the administrator of its plain port. They have no rights. */
public final class ScramUsers {
    private static final int ITERATIONS = 4_096;

    private ScramUsers() {}

    /** Makes users with one password, or gives them that. */
    public static void add(BrokerProcess broker, String password, Collection<String> users) {
        var plain = new Properties();
        plain.put("bootstrap.servers", broker.bootstrap());
        var credentials = new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, ITERATIONS);
        List<UserScramCredentialAlteration> added = users.stream()
                .<UserScramCredentialAlteration>map(
                        user -> new UserScramCredentialUpsertion(user, credentials, password))
                .toList();
        try (Admin admin = Admin.create(plain)) {
            admin.alterUserScramCredentials(added).all().get();
        } catch (ExecutionException refused) {
            throw new IllegalStateException("the broker makes no users " + users, refused.getCause());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while users were made", interrupted);
        }
    }
}
