package io.gpufleet.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.apache.kafka.common.config.internals.BrokerSecurityConfigs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The URLs and files that Kafka may open for a token. */
class TokenSourcesTest {
    private static final String URLS = BrokerSecurityConfigs.ALLOWED_SASL_OAUTHBEARER_URLS_CONFIG;
    private static final String FILES = BrokerSecurityConfigs.ALLOWED_SASL_OAUTHBEARER_FILES_CONFIG;

    @BeforeEach
    @AfterEach
    void forget() {
        System.clearProperty(URLS);
        System.clearProperty(FILES);
    }

    @Test
    void clientWithoutTokensAllowsNothing() {
        TokenSources.allow(Map.of("security.protocol", "SSL"));

        assertThat(System.getProperty(URLS)).isNull();
        assertThat(System.getProperty(FILES)).isNull();
    }

    @Test
    void whatAnOperatorAllowedStaysAllowed() {
        System.setProperty(URLS, "https://one.example, https://two.example");

        TokenSources.allow(Map.of("sasl.oauthbearer.token.endpoint.url", "https://login.example/token"));
        TokenSources.allow(Map.of("sasl.oauthbearer.token.endpoint.url", "https://login.example/token"));

        assertThat(System.getProperty(URLS))
                .isEqualTo("https://login.example/token,https://one.example,https://two.example");
    }

    @Test
    void fileOfATokenIsAllowedAsUrlAndAsFile() {
        var client = Map.of(
                "sasl.oauthbearer.token.endpoint.url", "file:///run/token",
                "sasl.oauthbearer.assertion.private.key.file", "/run/key.pem");

        TokenSources.allow(client);

        assertThat(System.getProperty(URLS)).isEqualTo("file:///run/token");
        assertThat(System.getProperty(FILES)).isEqualTo("/run/key.pem,/run/token");
        assertThat(TokenSources.files(client)).containsValues(Path.of("/run/token"), Path.of("/run/key.pem"));
    }
}
