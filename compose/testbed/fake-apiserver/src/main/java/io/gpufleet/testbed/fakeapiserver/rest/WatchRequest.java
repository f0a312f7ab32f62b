package io.gpufleet.testbed.fakeapiserver.rest;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.GroupResource;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import io.gpufleet.testbed.fakeapiserver.object.StatusCause;
import io.gpufleet.testbed.fakeapiserver.store.ObjectChange;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A validated watch request.
 *
 * @param resourceVersion revision of the client; 0: existing objects first
 * @param bookmarks true when the client wants bookmarks
 * @param timeout duration of the watch
 * @param table true for objects as tables of one row
 */
record WatchRequest(
        ServerContext context,
        SelectionPredicate selection,
        long resourceVersion,
        boolean bookmarks,
        Duration timeout,
        boolean table) {
    private static final Duration MAX_TIMEOUT = Duration.ofHours(1);

    static WatchRequest of(ServerContext cluster, RequestInfo target, ApiRequest call) {
        if (call.booleanParameter("sendInitialEvents")) {
            // Behaves as a server without the WatchList feature, so that clients fall back to list and watch.
            throw ApiError.invalid(
                    new GroupResource("meta.k8s.io", "listoptions"),
                    "ListOptions",
                    "",
                    List.of(StatusCause.forbidden(
                            "sendInitialEvents",
                            "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled")));
        }
        String version = call.parameter("resourceVersion");
        String timeout = call.parameter("timeoutSeconds");
        try {
            return new WatchRequest(
                    cluster,
                    SelectionPredicate.of(target, call),
                    version.isEmpty() ? 0 : Long.parseLong(version),
                    call.booleanParameter("allowWatchBookmarks"),
                    timeout.isEmpty() ? MAX_TIMEOUT : Duration.ofSeconds(Long.parseLong(timeout)),
                    TableConverter.isRequested(call));
        } catch (NumberFormatException notANumber) {
            throw ApiError.badRequest("Invalid value: resourceVersion and timeoutSeconds are numbers, not '" + version
                    + "' and '" + timeout + "'");
        }
    }

    /**
     * Starts sending events; the returned action ends the watch. A resource version that is too old is an event, too.
     */
    Runnable start(Consumer<String> sink) {
        try {
            return context.store()
                    .watch(
                            selection.target().resource(),
                            resourceVersion,
                            change -> event(change).ifPresent(sink));
        } catch (ApiError expired) {
            sink.accept(line("ERROR", expired.status()));
            return () -> {};
        }
    }

    /** Sends a bookmark after all events sent so far. */
    void bookmark(Consumer<String> sink) {
        if (bookmarks) {
            context.store().bookmark(revision -> {
                ObjectNode object = Json.object()
                        .put("kind", selection.target().type().kind())
                        .put("apiVersion", selection.target().type().apiVersion());
                object.putObject("metadata").put("resourceVersion", Long.toString(revision));
                sink.accept(line("BOOKMARK", object));
            });
        }
    }

    /** An object that leaves the selection is DELETED for this watch; one that enters it is ADDED. */
    private Optional<String> event(ObjectChange change) {
        boolean now = selection.test(change.object());
        ObjectNode previous = change.previous();
        boolean before = previous != null && selection.test(previous);
        if (change.kind() == ObjectChange.ChangeType.DELETED) {
            return before ? Optional.of(eventLine(ObjectChange.ChangeType.DELETED, change.object())) : Optional.empty();
        }
        if (now) {
            return Optional.of(eventLine(
                    before ? ObjectChange.ChangeType.MODIFIED : ObjectChange.ChangeType.ADDED, change.object()));
        }
        if (previous == null || !before) {
            return Optional.empty();
        }
        ObjectNode left = previous.deepCopy();
        Json.withObject(left, "metadata").put("resourceVersion", Long.toString(change.revision()));
        return Optional.of(eventLine(ObjectChange.ChangeType.DELETED, left));
    }

    private String eventLine(ObjectChange.ChangeType kind, ObjectNode object) {
        ObjectNode whole = ServerContext.inVersion(selection.target().type(), object);
        return line(
                kind.name(),
                table
                        ? new TableConverter(context.clock())
                                .toTable(selection.target().type(), whole, false)
                        : whole);
    }

    private static String line(String type, ObjectNode object) {
        return "{\"type\":\"" + type + "\",\"object\":" + Json.write(object) + "}\n";
    }
}
