/** HTTP operations of segments (behaviour: segments 1). */
import {
  Segment,
  SegmentCreation,
  SegmentDeleted,
  SegmentPreview,
  SegmentUpdate,
} from '../../../api/resources/segment.ts'
import { listOf, listQuery, pageOf, pageReply } from '../../../platform/http/paging.ts'
import { reply, route, type Route } from '../../../platform/http/route.ts'
import { segmentFailures, type SegmentService } from './service.ts'

const tag = 'Segments'

const createSegmentRoute = (segments: SegmentService): Route =>
  route({
    operation: 'segments.create',
    method: 'POST',
    path: '/v1/segments',
    scope: 'contacts:write',
    tag,
    summary: 'Create a segment',
    description:
      'The rules are checked as a whole; a refusal names every place that does not fit. A list that the rules name must exist (404).',
    body: SegmentCreation,
    inspect: segmentFailures,
    replies: { 201: Segment },
    errors: ['resource_missing'],
    handler: async ({ caller, body, sql }) => reply(201, await segments.create(sql, caller, body)),
  })

const listSegmentsRoute = (segments: SegmentService): Route =>
  route({
    operation: 'segments.list',
    method: 'GET',
    path: '/v1/segments',
    scope: 'contacts:read',
    tag,
    summary: 'List segments',
    description: 'Newest first, with their rules. Use the preview of a segment to count its contacts.',
    query: listQuery({}),
    replies: { 200: listOf(Segment) },
    errors: [],
    handler: async ({ caller, query, sql }) => {
      const page = pageOf(query)
      return reply(200, pageReply(await segments.list(sql, caller, page), page.limit))
    },
  })

const retrieveSegmentRoute = (segments: SegmentService): Route =>
  route({
    operation: 'segments.retrieve',
    method: 'GET',
    path: '/v1/segments/{id}',
    scope: 'contacts:read',
    tag,
    summary: 'Retrieve a segment',
    description: 'Its name and rules. Its contacts are determined each time it is used.',
    replies: { 200: Segment },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql }) => reply(200, await segments.get(sql, caller, params['id']!)),
  })

const updateSegmentRoute = (segments: SegmentService): Route =>
  route({
    operation: 'segments.update',
    method: 'PATCH',
    path: '/v1/segments/{id}',
    scope: 'contacts:write',
    tag,
    summary: 'Update a segment',
    description:
      'Absent fields stay; `rules` are replaced whole. A list that the stored rules name may be named again although it has been deleted.',
    body: SegmentUpdate,
    inspect: segmentFailures,
    replies: { 200: Segment },
    errors: ['parameter_missing', 'resource_missing'],
    handler: async ({ caller, params, body, sql }) =>
      reply(200, await segments.update(sql, caller, params['id']!, body)),
  })

const deleteSegmentRoute = (segments: SegmentService): Route =>
  route({
    operation: 'segments.delete',
    method: 'DELETE',
    path: '/v1/segments/{id}',
    scope: 'contacts:write',
    tag,
    summary: 'Delete a segment',
    description: 'Its contacts stay. A campaign that has not taken its snapshot fails with `audience_missing`.',
    replies: { 200: SegmentDeleted },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql }) => reply(200, await segments.remove(sql, caller, params['id']!)),
  })

const previewSegmentRoute = (segments: SegmentService): Route =>
  route({
    operation: 'segments.preview',
    method: 'GET',
    path: '/v1/segments/{id}/preview',
    scope: 'contacts:read',
    tag,
    summary: 'Preview a segment',
    description:
      'Counts the contacts that fit now, exactly, and for each channel type how many of them can be written to.',
    expensive: { narrow: 'Narrow the rules of the segment.' },
    replies: { 200: SegmentPreview },
    errors: ['resource_missing'],
    handler: async ({ caller, params, sql }) => reply(200, await segments.preview(sql, caller, params['id']!)),
  })

export const segmentRoutes = (segments: SegmentService): Route[] => [
  createSegmentRoute(segments),
  listSegmentsRoute(segments),
  retrieveSegmentRoute(segments),
  updateSegmentRoute(segments),
  deleteSegmentRoute(segments),
  previewSegmentRoute(segments),
]
