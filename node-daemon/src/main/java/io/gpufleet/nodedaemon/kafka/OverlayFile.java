package io.gpufleet.nodedaemon.kafka;

import com.google.protobuf.InvalidProtocolBufferException;
import io.gpufleet.proto.health.v1.NodeVerdict;
import io.gpufleet.wire.Codec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The newest verdict as a file, so that a start obeys it before Kafka answers. */
final class OverlayFile {
    private static final Logger LOG = LoggerFactory.getLogger(OverlayFile.class);

    private final Path file;

    OverlayFile(Path stateDirectory) {
        this.file = stateDirectory.resolve("verdict.json");
    }

    /** What was kept; trust where nothing was. */
    NodeVerdict load() {
        try {
            return Codec.fromJson(Files.readAllBytes(file), NodeVerdict.getDefaultInstance())
                            instanceof NodeVerdict verdict
                    ? verdict
                    : NodeVerdict.getDefaultInstance();
        } catch (NoSuchFileException nothingKept) {
            return NodeVerdict.getDefaultInstance();
        } catch (IOException unreadable) {
            boolean garbled = unreadable instanceof InvalidProtocolBufferException;
            LOG.atWarn()
                    .addKeyValue("file", file)
                    .addKeyValue("garbled", garbled)
                    .log("the kept verdict can not be read, trust until Kafka answers");
            return NodeVerdict.getDefaultInstance();
        }
    }

    void save(NodeVerdict verdict) {
        try {
            Files.createDirectories(file.getParent());
            Path next = file.resolveSibling("verdict.json.next");
            Files.write(next, Codec.toJson(verdict));
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException failed) {
            LOG.atWarn()
                    .addKeyValue("file", file)
                    .addKeyValue("error", failed.toString())
                    .log("the verdict can not be kept; a restart without Kafka would trust every device");
        }
    }
}
