package io.gpufleet.inventory.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.inventory.app.PageToken;
import io.gpufleet.inventory.model.query.FleetQuery;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Length of pages. */
class JsonPageTest {
    private static JsonObject encoded(List<Integer> items, boolean more) {
        return new JsonObject(JsonPage.encode(
                new FleetQuery.Page<>(items, more),
                item -> new JsonObject().put("item", item).put("text", "x".repeat(1 << 20)),
                Set.of(),
                item -> "item-" + item));
    }

    @Test
    void pageEndsBeforeTheItemThatWouldMakeItTooLong() {
        JsonObject page = encoded(List.of(1, 2, 3, 4, 5, 6), false);

        assertThat(page.getJsonArray("items")).hasSize(3);
        assertThat(PageToken.position(page.getString("next"))).contains("item-3");
    }

    @Test
    void itemThatIsLongerThanAPageIsAPageOfItsOwn() {
        var page = new JsonObject(JsonPage.encode(
                new FleetQuery.Page<>(List.of(1, 2), false),
                item -> new JsonObject().put("item", item).put("text", "x".repeat(JsonPage.MAX_LENGTH)),
                Set.of(),
                item -> "item-" + item));

        assertThat(page.getJsonArray("items")).hasSize(1);
        assertThat(PageToken.position(page.getString("next"))).contains("item-1");
    }

    @Test
    void lastPageHasNoToken() {
        assertThat(encoded(List.of(1), false).containsKey("next")).isFalse();
        assertThat(encoded(List.of(1), true).getString("next")).isEqualTo(PageToken.of("item-1"));
    }
}
