package io.gpufleet.nodedaemon.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.Json;
import io.vertx.core.json.jackson.JacksonCodec;
import org.junit.jupiter.api.Test;

class StreamingJsonFactoryTest {
    @Test
    void jsonIsWrittenWithoutDatabind() {
        assertThat(Json.CODEC).isExactlyInstanceOf(JacksonCodec.class);
    }
}
