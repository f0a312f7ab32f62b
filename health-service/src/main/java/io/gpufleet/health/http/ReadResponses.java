package io.gpufleet.health.http;

import io.gpufleet.health.app.PodOwners;
import io.gpufleet.kit.web.PodListPermissions;
import io.gpufleet.kit.web.ProblemDetails;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import java.time.Clock;
import java.util.Optional;
import java.util.function.Function;

/** Makes responses on worker threads, since it may have to be asked which pods the user may see. */
final class ReadResponses {
    private final HealthRoutes.Access access;
    private final PodOwners owners;
    private final Clock clock;

    ReadResponses(HealthRoutes.Access access, PodOwners owners, Clock clock) {
        this.access = access;
        this.owners = owners;
        this.clock = clock;
    }

    /** Responds with what {@code body} makes, or with 404 where {@code what} is unknown. */
    void respond(RoutingContext context, String what, Function<IncidentJson, Optional<JsonObject>> body) {
        PodListPermissions pods = PodListPermissions.of(context, access.reads());
        access.workers()
                .run(() -> body.apply(new IncidentJson(clock.instant(), pods::sees, owners))
                        .map(JsonObject::encode))
                .onSuccess(response -> response.ifPresentOrElse(
                        text -> context.response()
                                .putHeader("content-type", "application/json")
                                .end(text),
                        () -> HealthRoutes.notFound(context, what)))
                .onFailure(failure -> ProblemDetails.failed(context, failure));
    }
}
