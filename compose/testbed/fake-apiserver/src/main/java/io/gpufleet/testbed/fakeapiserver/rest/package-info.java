/** The verbs of the API on objects, collections and subresources, and the HTTP server. */
@NullMarked
package io.gpufleet.testbed.fakeapiserver.rest;

import org.jspecify.annotations.NullMarked;
