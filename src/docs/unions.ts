/**
 * Derives the unions of the document from flat schemas: `oneOf` named variants with a `discriminator` on `type`.
 * `InboundMessage` has none, because `type` is optional for a text; strings of `CampaignMessage` and
 * `AutomationMessage` are unbounded, because limits apply after merging tags. Clients must ignore unknown variants of
 * `Message` and `Event`.
 */
import { contentSchemaId } from '../api/content/documented.ts'
import type { ContentType } from '../api/content/content-type.ts'
import { capabilities, contentTypes } from '../api/content/registry.ts'
import { eventTypes, type EventType } from '../api/events.ts'
import { Balance } from '../api/resources/balance.ts'
import { Campaign } from '../api/resources/campaign.ts'
import { Channel } from '../api/resources/channel.ts'
import { documentedConsent } from '../api/resources/contact.ts'
import { Event } from '../api/resources/event.ts'
import { Message } from '../api/resources/message.ts'
import { Package } from '../api/resources/package.ts'
import { WebhookEndpoint } from '../api/resources/webhook-endpoint.ts'

type Json = Record<string, unknown>

interface ObjectSchema extends Json {
  readonly properties: Readonly<Record<string, unknown>>
  readonly required?: readonly string[]
}

export function documented(schema: Json): Json {
  const make = unions[String(schema['$id'])]
  return make === undefined ? { ...schema } : make(schema as ObjectSchema)
}

const unions: Readonly<Record<string, (flat: ObjectSchema) => Json>> = {
  SendMessage: (flat) => union(flat, capabilities, (type) => `Send${camel(type)}Message`, sendVariant),
  CampaignMessage: (flat) => union(flat, capabilities, taggedName, taggedVariant),
  AutomationMessage: (flat) => union(flat, capabilities, taggedName, taggedVariant),
  InboundMessage: (flat) => ({
    $id: flat['$id'],
    description: flat['description'],
    examples: flat['examples'],
    oneOf: simulated.map((type) => inboundVariant(flat, type)),
  }),
  ContactCreation: withConsent,
  ContactUpsert: withConsent,
  ContactUpdate: withConsent,
  Message: (flat) => union(flat, Object.keys(contentTypes), (type) => `${camel(type)}Message`, messageVariant),
  Event: (flat) => union(flat, Object.keys(eventTypes), (type) => eventName(type as EventType), eventVariant),
}

function withConsent(flat: ObjectSchema): Json {
  return { ...flat, properties: { ...flat.properties, consent: documentedConsent } }
}

const camel = (type: string): string => contentSchemaId(type).replace(/Content$/, '')
const taggedName = (type: string): string => `Tagged${camel(type)}Message`

const eventName = (type: EventType): string => `${camel(type.replaceAll('.', '_'))}Event`

export const eventSchema = (type: EventType): Json => ({
  ...eventVariant(Event as unknown as ObjectSchema, type),
  $id: eventName(type),
})

function union(
  flat: ObjectSchema,
  types: readonly string[],
  nameOf: (type: string) => string,
  variant: (flat: ObjectSchema, type: string) => Json,
): Json {
  const mapping = Object.fromEntries(types.map((type) => [type, `#/components/schemas/${nameOf(type)}`]))
  return {
    $id: flat['$id'],
    description: flat['description'],
    discriminator: { propertyName: 'type', mapping },
    oneOf: types.map((type) => ({ ...variant(flat, type), $id: nameOf(type) })),
  }
}

const contentOf = (type: string): ContentType => contentTypes[type as keyof typeof contentTypes]

const typed = (type: string): Json => ({
  type: 'string',
  const: type,
  description: `Always \`${type}\`, the discriminator of the variants.`,
})

const sentContent = (type: string): Json => {
  const { schema, summary, example } = contentOf(type)
  return { ...(schema as unknown as Json), $id: contentSchemaId(type), description: summary, examples: [example] }
}

function sendVariant(flat: ObjectSchema, type: string): Json {
  const common = Object.entries(flat.properties).filter(([name]) => !(capabilities as readonly string[]).includes(name))
  const { summary, example } = contentOf(type)
  return {
    type: 'object',
    description: summary,
    additionalProperties: false,
    required: [...(flat.required ?? []), type],
    properties: { ...Object.fromEntries(common), type: typed(type), [type]: sentContent(type) },
    examples: [{ channel: 'ch_test_whatsapp', to: '+15005550006', type, [type]: example }],
  }
}

function taggedVariant(_flat: ObjectSchema, type: string): Json {
  const { summary, example } = contentOf(type)
  const content = {
    ...(unbounded(sentContent(type)) as Json),
    $id: `Tagged${contentSchemaId(type)}`,
    examples: [example],
  }
  return {
    type: 'object',
    description: `${summary} Its strings may hold merge tags.`,
    additionalProperties: false,
    required: ['type', type],
    properties: { type: typed(type), [type]: content },
    examples: [{ type, [type]: example }],
  }
}

/** Removes limits that apply only after merging tags. */
function unbounded(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(unbounded)
  if (typeof schema !== 'object' || schema === null) return schema
  const { pattern: _pattern, format: _format, maxLength: _maxLength, ...rest } = schema as Json
  return Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [key, key === 'enum' || key === 'examples' ? value : unbounded(value)]),
  )
}

/** A union if inbound content is wider than outbound content. */
const anyContent = (type: string): Json => {
  const { inbound_schema, summary, example } = contentOf(type)
  if (inbound_schema === undefined) return sentContent(type)
  return {
    ...(inbound_schema as unknown as Json),
    $id: `Received${contentSchemaId(type)}`,
    description: `${summary} Sent or received.`,
    examples: [example],
  }
}

/** All but templates. */
const simulated = Object.keys(contentTypes).filter((type) => type !== 'template')

function inboundVariant(flat: ObjectSchema, type: string): Json {
  const { summary, example } = contentOf(type)
  const isDefault = type === 'text'
  return {
    $id: `Inbound${camel(type)}Message`,
    type: 'object',
    description: summary,
    additionalProperties: false,
    required: [...(flat.required ?? []), ...(isDefault ? [] : ['type']), type],
    properties: {
      ...flat.properties,
      type: { ...typed(type), ...(isDefault ? { default: type } : {}) },
      [type]: anyContent(type),
    },
    examples: [{ channel: 'ch_test_whatsapp', from: '+14155550123', type, [type]: example }],
  }
}

function messageVariant(flat: ObjectSchema, type: string): Json {
  const { type: _type, content: _content, ...shared } = flat.properties
  const required = (flat.required ?? []).filter((name) => name !== 'type' && name !== 'content')
  const fields = {
    type: 'object',
    $id: 'MessageFields',
    description: 'The fields of all message types.',
    required,
    properties: shared,
  }
  const content = {
    type: 'object',
    description: `The content, under the key \`${type}\`.`,
    required: [type],
    properties: { [type]: anyContent(type) },
  }
  const own = { type: 'object', required: ['type', 'content'], properties: { type: typed(type), content } }
  return { description: contentOf(type).summary, allOf: [fields, own] }
}

const resources = {
  message: Message,
  channel: Channel,
  balance: Balance,
  package: Package,
  campaign: Campaign,
  webhook_endpoint: WebhookEndpoint,
} as const

function eventVariant(flat: ObjectSchema, type: string): Json {
  const { object, when } = eventTypes[type as EventType]
  const data = {
    type: 'object',
    description: 'The object of the event.',
    required: ['object'],
    properties: { object: resources[object] },
  }
  return {
    type: 'object',
    description: `Sent when ${when}.`,
    required: flat.required,
    properties: { ...flat.properties, type: typed(type), data },
  }
}
