package io.gpufleet.nodedaemon.kafka;

import com.google.protobuf.InvalidProtocolBufferException;
import io.gpufleet.kit.files.AtomicFile;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.wire.Codec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The newest verdict in {@code verdict.json}, proto3 JSON of NodeVerdict: applied at a start before Kafka responds. */
final class VerdictFile {
    private static final Logger LOG = LoggerFactory.getLogger(VerdictFile.class);

    private final Path file;

    VerdictFile(Path stateDirectory) {
        this.file = stateDirectory.resolve("verdict.json");
    }

    /** The saved verdict; the default instance, which trusts every device, if there is none. */
    NodeVerdict load() {
        try {
            return Codec.fromJson(Files.readAllBytes(file), NodeVerdict.getDefaultInstance())
                            instanceof NodeVerdict verdict
                    ? verdict
                    : NodeVerdict.getDefaultInstance();
        } catch (NoSuchFileException notSaved) {
            return NodeVerdict.getDefaultInstance();
        } catch (IOException unreadable) {
            boolean malformed = unreadable instanceof InvalidProtocolBufferException;
            LOG.atWarn()
                    .addKeyValue("file", file)
                    .addKeyValue("malformed", malformed)
                    .log("saved verdict cannot be read, devices trusted until Kafka responds");
            return NodeVerdict.getDefaultInstance();
        }
    }

    void save(NodeVerdict verdict) {
        try {
            AtomicFile.write(file, Codec.toJson(verdict), AtomicFile.Durability.POWER_CUT);
        } catch (IOException failed) {
            LOG.atWarn()
                    .addKeyValue("file", file)
                    .addKeyValue("error", failed.toString())
                    .log("verdict cannot be saved; a restart without Kafka would trust every device");
        }
    }
}
