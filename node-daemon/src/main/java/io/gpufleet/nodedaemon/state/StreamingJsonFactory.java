package io.gpufleet.nodedaemon.state;

import io.vertx.core.json.jackson.JacksonCodec;
import io.vertx.core.spi.JsonFactory;
import io.vertx.core.spi.json.JsonCodec;

/**
 * JSON of Vert.x without Jackson's databind, which is there for Kafka's logins and would be chosen: the daemon maps no
 * classes, and databind takes 5 MiB of memory and a part of each start.
 */
public final class StreamingJsonFactory implements JsonFactory {
    @Override
    public JsonCodec codec() {
        return new JacksonCodec();
    }
}
