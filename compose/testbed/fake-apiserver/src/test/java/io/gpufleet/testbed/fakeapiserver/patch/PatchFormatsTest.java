package io.gpufleet.testbed.fakeapiserver.patch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpufleet.testbed.fakeapiserver.object.ApiError;
import io.gpufleet.testbed.fakeapiserver.object.Json;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The three patch formats on plain trees. */
class PatchFormatsTest {
    private static JsonNode tree(String text) {
        return Json.parse(text.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void mergePatchRemovesWithNullAndKeepsArgument() {
        // Given
        JsonNode target = tree("{'a':1,'b':{'c':2,'d':3},'e':[1,2]}");
        JsonNode before = target.deepCopy();
        // When
        JsonNode result = MergePatch.apply(target, tree("{'a':null,'b':{'c':null,'x':4},'e':[3]}"));
        // Then
        assertThat(result).isEqualTo(tree("{'b':{'d':3,'x':4},'e':[3]}"));
        assertThat(target).isEqualTo(before);
    }

    @Test
    void jsonPatchSupportsEveryOperation() {
        // When
        JsonNode result = JsonPatch.apply(
                tree("{'a':[1,2],'b':{'c':'x'}}"),
                tree("[{'op':'test','path':'/b/c','value':'x'},{'op':'add','path':'/a/-','value':3},"
                        + "{'op':'add','path':'/a/0','value':0},{'op':'remove','path':'/a/1'},"
                        + "{'op':'replace','path':'/b/c','value':'y'},{'op':'copy','from':'/b/c','path':'/d'},"
                        + "{'op':'move','from':'/b/c','path':'/b/e~1f'}]"));
        // Then
        assertThat(result).isEqualTo(tree("{'a':[0,2,3],'b':{'e/f':'y'},'d':'y'}"));
    }

    @Test
    void jsonPatchRefusesMissingPath() {
        for (String operation : new String[] {
            "{'op':'remove','path':'/x'}",
            "{'op':'replace','path':'/x','value':1}",
            "{'op':'add','path':'/x/y','value':1}",
            "{'op':'test','path':'/a','value':2}",
            "{'op':'paint','path':'/a'}"
        }) {
            assertThatThrownBy(() -> JsonPatch.apply(tree("{'a':1}"), tree("[" + operation + "]")))
                    .isInstanceOfSatisfying(
                            ApiError.class, error -> assertThat(error.code()).isEqualTo(422));
        }
    }

    @Test
    void strategicMergeKnowsWhichListsMerge() {
        // When
        JsonNode result = StrategicMergePatch.apply(
                tree("{'conditions':[{'type':'A','status':'1'},{'type':'B','status':'1'}],'taints':[{'key':'a'}],"
                        + "'finalizers':['x']}"),
                tree("{'conditions':[{'type':'B','status':'2'},{'type':'C'}],'taints':[{'key':'b'}],"
                        + "'finalizers':['y']}"));
        // Then
        assertThat(result)
                .isEqualTo(tree("{'conditions':[{'type':'A','status':'1'},{'type':'B','status':'2'},{'type':'C'}],"
                        + "'taints':[{'key':'b'}],'finalizers':['x','y']}"));
    }

    @Test
    void strategicMergeObeysItsDirectives() {
        // Given
        JsonNode target = tree("{'containers':[{'name':'a'},{'name':'b','env':[{'name':'E','value':'1'}]}],"
                + "'finalizers':['x','y'],'strategy':{'type':'Rolling','rolling':{'max':1}}}");
        // When
        JsonNode result = StrategicMergePatch.apply(
                target,
                tree("{'containers':[{'name':'a','$patch':'delete'},{'name':'c'}],"
                        + "'$setElementOrder/containers':[{'name':'c'},{'name':'b'}],"
                        + "'$deleteFromPrimitiveList/finalizers':['x'],"
                        + "'strategy':{'$retainKeys':['type'],'type':'Recreate'}}"));
        // Then
        assertThat(result)
                .isEqualTo(tree("{'containers':[{'name':'c'},{'name':'b','env':[{'name':'E','value':'1'}]}],"
                        + "'finalizers':['y'],'strategy':{'type':'Recreate'}}"));
    }
}
