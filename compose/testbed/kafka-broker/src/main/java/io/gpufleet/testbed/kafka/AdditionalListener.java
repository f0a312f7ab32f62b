package io.gpufleet.testbed.kafka;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;

/** Listeners beside the plain port: none, TLS with SCRAM and ACLs, tokens and certificates, a proxy, or another address. */
sealed interface AdditionalListener {
    /** Password of the key store and the trust store. */
    String STORE_PASSWORD = "of-a-test-broker";

    /** Further lines of the broker's configuration. */
    String properties();

    /** The value of {@code listeners} without the controller's, for a plain port. */
    default String listeners(int plainPort) {
        return "PLAINTEXT://127.0.0.1:" + plainPort;
    }

    /** The value of {@code advertised.listeners}. */
    default String advertisedListeners(int plainPort) {
        return listeners(plainPort);
    }

    /** Further flags of the broker's JVM. */
    default List<String> flags() {
        return List.of();
    }

    /** Further lines of the configuration of the broker's log. */
    default String logging() {
        return "";
    }

    /** Everybody may do everything. */
    record Open() implements AdditionalListener {
        @Override
        public String properties() {
            return "";
        }
    }

    /**
     * A second plain port, whose clients are told the port of a proxy.
     *
     * @param port the second port
     * @param proxy forwards to it
     */
    record BehindProxy(int port, TcpProxy proxy) implements AdditionalListener {
        @Override
        public String listeners(int plainPort) {
            return "PLAINTEXT://127.0.0.1:" + plainPort + ",PROXIED://127.0.0.1:" + port;
        }

        @Override
        public String advertisedListeners(int plainPort) {
            return "PLAINTEXT://127.0.0.1:" + plainPort + ",PROXIED://127.0.0.1:" + proxy.port();
        }

        @Override
        public String properties() {
            return "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,PROXIED:PLAINTEXT\n";
        }
    }

    /**
     * A second plain port on another address of this machine, for clients that do not reach its loopback, such as pods.
     *
     * @param host the address
     * @param port the second port
     */
    record OnAddress(String host, int port) implements AdditionalListener {
        @Override
        public String listeners(int plainPort) {
            return "PLAINTEXT://127.0.0.1:" + plainPort + ",REMOTE://" + host + ":" + port;
        }

        @Override
        public String properties() {
            return "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,REMOTE:PLAINTEXT\n";
        }
    }

    /** A second port for clients with tokens and a third for clients with certificates; everybody may do everything. */
    record TokensAndCertificates(BrokerIdentities identities) implements AdditionalListener {
        @Override
        public String listeners(int plainPort) {
            return "PLAINTEXT://127.0.0.1:" + plainPort + "," + identities.listeners();
        }

        @Override
        public String properties() {
            String stores = identities.stores().replaceAll("(?m)^ssl", "listener.name.certificates.ssl");
            return """
                listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,TOKENS:SASL_PLAINTEXT,CERTIFICATES:SSL
                sasl.enabled.mechanisms=OAUTHBEARER
                listener.name.tokens.oauthbearer.sasl.jaas.config=\
                org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;
                listener.name.tokens.oauthbearer.sasl.server.callback.handler.class=\
                org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler
                listener.name.tokens.oauthbearer.sasl.oauthbearer.jwks.endpoint.url=%s
                listener.name.tokens.oauthbearer.sasl.oauthbearer.expected.audience=%s
                listener.name.certificates.ssl.client.auth=required
                %s
                """.formatted(identities.keys(), TokenIssuer.AUDIENCE, stores);
        }

        @Override
        public List<String> flags() {
            return List.of("-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=" + identities.keys());
        }
    }

    /**
     * TLS and SCRAM-SHA-512 on a second port, where only what ACLs allow is allowed; whoever comes by the plain port is
     * the administrator. Each decision of the authorizer is a line of {@code broker.out}.
     *
     * @param host the address
     * @param port the second port
     * @param identity what the certificate is for, as keytool takes it
     * @param keyStore the broker's key, PKCS 12
     */
    record TlsAndScram(String host, int port, String identity, Path keyStore) implements AdditionalListener {
        private static final String LOOPBACK = "IP:127.0.0.1";

        /** Makes a key for 127.0.0.1 and a trust store with its certificate, both in a directory. */
        static TlsAndScram create(Path dir, int port) throws IOException {
            return create(dir, "127.0.0.1", port, LOOPBACK);
        }

        /** Makes a key for an address and a name of it, and a trust store with its certificate, both in a directory. */
        static TlsAndScram create(Path dir, String host, int port, String identity) throws IOException {
            Path keyStore = dir.resolve("broker.p12");
            if (!Files.exists(keyStore)) {
                newKey(keyStore, dir.resolve("trust.p12"), identity);
            }
            return new TlsAndScram(host, port, identity, keyStore);
        }

        /** Makes a self-signed key for 127.0.0.1 in one store, and its certificate in another. */
        static void newKey(Path keyStore, Path trustStore) throws IOException {
            newKey(keyStore, trustStore, LOOPBACK);
        }

        private static void newKey(Path keyStore, Path trustStore, String identity) throws IOException {
            Path certificate = Files.createTempFile(keyStore.getParent(), "broker", ".crt");
            keytool(
                    keyStore,
                    "-genkeypair",
                    "-alias",
                    "broker",
                    "-keyalg",
                    "EC",
                    "-groupname",
                    "secp256r1",
                    "-dname",
                    "CN=broker",
                    "-ext",
                    "SAN=" + identity,
                    "-validity",
                    "30");
            keytool(keyStore, "-exportcert", "-alias", "broker", "-file", certificate.toString());
            keytool(trustStore, "-importcert", "-noprompt", "-alias", "broker", "-file", certificate.toString());
            Files.delete(certificate);
        }

        /** Makes a new key, and a new trust store beside it. */
        void replaceKey() throws IOException {
            Path newKey = keyStore.resolveSibling("new-broker.p12");
            Path newTrust = keyStore.resolveSibling("new-trust.p12");
            newKey(newKey, newTrust, identity);
            Files.move(newKey, keyStore, StandardCopyOption.REPLACE_EXISTING);
            Files.move(newTrust, keyStore.resolveSibling("trust.p12"), StandardCopyOption.REPLACE_EXISTING);
        }

        private static void keytool(Path store, String... arguments) throws IOException {
            var command = new java.util.ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                    // As a short program with the compiler of short programs: half the CPU time.
                    "-J-XX:TieredStopAtLevel=1",
                    "-J-XX:+UseSerialGC",
                    "-storetype",
                    "PKCS12",
                    "-keystore",
                    store.toString(),
                    "-storepass",
                    STORE_PASSWORD));
            command.addAll(3, List.of(arguments));
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = process.inputReader().readAllAsString();
            try {
                if (process.waitFor() != 0) {
                    throw new IllegalStateException("keytool failed: " + output);
                }
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted while keytool runs", interrupted);
            }
        }

        @Override
        public String listeners(int plainPort) {
            return "PLAINTEXT://127.0.0.1:" + plainPort + ",CLIENTS://" + host + ":" + port;
        }

        @Override
        public String properties() {
            return """
                listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,CLIENTS:SASL_SSL
                sasl.enabled.mechanisms=SCRAM-SHA-512
                listener.name.clients.scram-sha-512.sasl.jaas.config=\
                org.apache.kafka.common.security.scram.ScramLoginModule required;
                listener.name.clients.ssl.keystore.type=PKCS12
                listener.name.clients.ssl.keystore.location=%s
                listener.name.clients.ssl.keystore.password=%s
                authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
                super.users=User:ANONYMOUS
                allow.everyone.if.no.acl.found=false
                """.formatted(keyStore, STORE_PASSWORD);
        }

        @Override
        public String logging() {
            return """
                logger.authorizer.name = kafka.authorizer.logger
                logger.authorizer.level = DEBUG
                """;
        }
    }
}
