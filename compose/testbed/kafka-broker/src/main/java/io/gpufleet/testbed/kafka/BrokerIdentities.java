package io.gpufleet.testbed.kafka;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.util.Base64;

/**
 * The two further ports of {@link BrokerProcess#startWithIdentities}: one takes tokens of an identity provider
 * (OAUTHBEARER), one takes certificates (mutual TLS).
 */
public final class BrokerIdentities {
    /** Name of the file with the keys of the identity provider. */
    private static final String KEYS = "keys.json";

    private final Path directory;
    private final int tokenPort = FreePort.next();
    private final int certificatePort = FreePort.next();
    private final TokenIssuer issuer = TokenIssuer.create();

    private BrokerIdentities(Path directory) {
        this.directory = directory;
    }

    /** Makes the keys of broker and identity provider in a directory. */
    static BrokerIdentities create(Path directory) throws IOException {
        var identities = new BrokerIdentities(directory);
        identities.issuer.writeKeys(directory.resolve(KEYS));
        AdditionalListener.TlsAndScram.newKey(identities.keyStore(), identities.trustStore());
        return identities;
    }

    private Path keyStore() {
        return directory.resolve("broker.p12");
    }

    private Path trustStore() {
        return directory.resolve("trust.p12");
    }

    /** URL of the identity provider's keys. */
    String keys() {
        return directory.resolve(KEYS).toUri().toString();
    }

    /** The listeners of the broker. */
    String listeners() {
        return "TOKENS://127.0.0.1:" + tokenPort + ",CERTIFICATES://127.0.0.1:" + certificatePort;
    }

    /** Value for {@code bootstrap.servers} of clients with a token. */
    public String tokenBootstrap() {
        return "127.0.0.1:" + tokenPort;
    }

    /** Value for {@code bootstrap.servers} of clients with a certificate. */
    public String certificateBootstrap() {
        return "127.0.0.1:" + certificatePort;
    }

    /** A token that the identity provider signed for a user. */
    public String token(String user) {
        return issuer.token(user);
    }

    /** Kafka client properties with PEM files of the one certificate that the broker trusts: its own. */
    public String certificateProperties() throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance(keyStore().toFile(), AdditionalListener.STORE_PASSWORD.toCharArray());
        String certificate = pem("CERTIFICATE", store.getCertificate("broker").getEncoded());
        Key key = store.getKey("broker", AdditionalListener.STORE_PASSWORD.toCharArray());
        Path both =
                Files.writeString(directory.resolve("client.pem"), pem("PRIVATE KEY", key.getEncoded()) + certificate);
        return """
            security.protocol=SSL
            ssl.truststore.type=PEM
            ssl.truststore.location=%s
            ssl.keystore.type=PEM
            ssl.keystore.location=%s
            """.formatted(Files.writeString(directory.resolve("ca.crt"), certificate), both);
    }

    private static String pem(String kind, byte[] content) {
        return "-----BEGIN %s-----\n%s\n-----END %1$s-----\n"
                .formatted(kind, Base64.getMimeEncoder().encodeToString(content));
    }

    /** Key store and trust store of the broker. */
    String stores() {
        return """
            ssl.keystore.type=PKCS12
            ssl.keystore.location=%s
            ssl.keystore.password=%s
            ssl.truststore.type=PKCS12
            ssl.truststore.location=%s
            ssl.truststore.password=%2$s
            """.formatted(keyStore(), AdditionalListener.STORE_PASSWORD, trustStore());
    }
}
