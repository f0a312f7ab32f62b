package io.gpufleet.compose.kubeapi.store;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/**
 * All objects of a resource at one moment.
 *
 * @param revision the moment
 * @param objects in order of namespace and name
 */
public record Listing(long revision, List<ObjectNode> objects) {}
