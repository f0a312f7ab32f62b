package io.gpufleet.testbed.fakeapiserver.store;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/**
 * All objects of a resource at one revision.
 *
 * @param revision revision of the list
 * @param objects in order of namespace and name
 */
public record ObjectList(long revision, List<ObjectNode> objects) {}
