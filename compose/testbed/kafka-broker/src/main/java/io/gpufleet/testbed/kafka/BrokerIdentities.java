package io.gpufleet.testbed.kafka;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
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
        KeyStore store = open(keyStore());
        Files.writeString(directory.resolve("ca.crt"), certificate(store));
        return certificateProperties(Files.writeString(clientKey(), keyAndCertificate(store)));
    }

    /** Kafka client properties with another key, as {@link #clientKey()} has one. */
    public String certificateProperties(Path key) {
        return """
            security.protocol=SSL
            ssl.truststore.type=PEM
            ssl.truststore.location=%s
            ssl.keystore.type=PEM
            ssl.keystore.location=%s
            """.formatted(directory.resolve("ca.crt"), key);
    }

    /** Key and certificate of the clients of {@link #certificateProperties()}, one PEM file. */
    public Path clientKey() {
        return directory.resolve("client.pem");
    }

    /**
     * Makes a new key of the clients, puts it in the place of the former one, and makes its certificate the one that the broker
     * trusts from its next start on.
     */
    public void replaceClientKey() throws IOException, GeneralSecurityException {
        Path key = directory.resolve("new-client.p12");
        Path trusted = directory.resolve("new-trust.p12");
        AdditionalListener.TlsAndScram.newKey(key, trusted);
        Path pem = Files.writeString(directory.resolve("new-client.pem"), keyAndCertificate(open(key)));
        Files.move(trusted, trustStore(), StandardCopyOption.REPLACE_EXISTING);
        Files.move(pem, clientKey(), StandardCopyOption.REPLACE_EXISTING);
        Files.delete(key);
    }

    static KeyStore open(Path store) throws IOException, GeneralSecurityException {
        return KeyStore.getInstance(store.toFile(), AdditionalListener.STORE_PASSWORD.toCharArray());
    }

    static String certificate(KeyStore store) throws GeneralSecurityException {
        return pem("CERTIFICATE", store.getCertificate("broker").getEncoded());
    }

    private static String keyAndCertificate(KeyStore store) throws GeneralSecurityException {
        Key key = store.getKey("broker", AdditionalListener.STORE_PASSWORD.toCharArray());
        return pem("PRIVATE KEY", key.getEncoded()) + certificate(store);
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
