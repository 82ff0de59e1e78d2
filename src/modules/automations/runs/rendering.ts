/**
 * The message of an automation for one event (behaviour: integrations 6.4). Pure. What is filled in is text and nothing else: it changes no structure, and brings in no other tag.
 */
import { Problem } from '../../../api/problem.ts'
import type { EventCustomer } from '../../../api/resources/automation-event.ts'
import { readPath, valuesAt } from '../event-paths.ts'
import { type ContactRow, fullName } from '../../contacts/service.ts'
import { mergeValues, type MergeValues, render, type TaggedMessage, tagsOf } from '../../messages/service.ts'

/** What an automation sends. */
export interface RunMessage {
  readonly message: TaggedMessage
  readonly merge_fallbacks: Readonly<Record<string, string>>
}

/** What tags are filled in from: the event, and the contact as it is now. */
export interface RunFacts {
  readonly customer: EventCustomer
  /** Keys that no tag of the message names may be left out. */
  readonly data: Readonly<Record<string, unknown>>
  readonly contact: ContactRow | undefined
}

/** Throws the Problem `parameter_invalid` where a text of the message is empty once its tags are filled in. */
export function renderedFor({ message, merge_fallbacks }: RunMessage, facts: RunFacts): TaggedMessage {
  const result = render(message, valuesOf(facts), merge_fallbacks)
  if ('failures' in result) throw Problem.invalid(result.failures)
  return result.rendered as TaggedMessage
}

/** `data.…` and `customer.…` are of the event; the fields of contacts are those of the contact, and the event's where it has none. */
function valuesOf({ customer, data, contact }: RunFacts): MergeValues {
  const names = {
    first_name: contact?.first_name ?? customer.first_name ?? null,
    last_name: contact?.last_name ?? customer.last_name ?? null,
  }
  const ofContact = mergeValues({
    variables: null,
    fields: {
      ...names,
      full_name: fullName(names),
      phone: contact?.phone ?? customer.phone ?? null,
      email: contact?.email ?? customer.email ?? null,
      locale: contact?.locale ?? customer.locale ?? null,
    },
    attributes: contact?.attributes ?? {},
  })
  return {
    get(name) {
      if (name.startsWith('data.')) return textAt(data, name, 'data')
      if (name.startsWith('customer.')) return textAt(customer, name, 'customer')
      return ofContact.get(name)
    },
  }
}

/** What stands at a path as text; several values one after the other. What is an object has no text. */
function textAt(root: unknown, name: string, within: string): string | undefined {
  const path = readPath(name, within)
  const texts =
    path === null
      ? []
      : valuesAt(root, path)
          .filter((value) => typeof value !== 'object')
          .map(String)
  return texts.length === 0 ? undefined : texts.join(', ')
}

/** The keys of an event's data that the tags of a message read. */
export const dataKeysOf = (message: object): string[] => [
  ...new Set(tagsOf(message, '').flatMap(({ name }) => readPath(name, 'data')?.slice(0, 1) ?? [])),
]
