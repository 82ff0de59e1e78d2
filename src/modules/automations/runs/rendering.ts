/**
 * Renders the message of an automation for one event (behaviour: integrations 6.4). Values are not searched for tags.
 * Pure.
 */
import { Problem } from '../../../api/problem.ts'
import type { EventCustomer } from '../../../api/resources/automation-event.ts'
import { readPath, valuesAt } from '../event-paths.ts'
import { type ContactRow, fullName } from '../../contacts/service.ts'
import { mergeValues, type MergeValues, render, type TaggedMessage, tagsOf } from '../../messages/service.ts'

export interface RunMessage {
  readonly message: TaggedMessage
  readonly merge_fallbacks: Readonly<Record<string, string>>
}

export interface MergeSource {
  readonly customer: EventCustomer
  readonly data: Readonly<Record<string, unknown>>
  readonly contact: ContactRow | undefined
}

/** Throws `parameter_invalid` if a text is empty after rendering. */
export function renderedFor({ message, merge_fallbacks }: RunMessage, facts: MergeSource): TaggedMessage {
  const result = render(message, valuesOf(facts), merge_fallbacks)
  if ('failures' in result) throw Problem.invalid(result.failures)
  return result.rendered as TaggedMessage
}

/** `data.…` and `customer.…` come from the event; contact fields from the contact, else from the event. */
function valuesOf({ customer, data, contact }: MergeSource): MergeValues {
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

/** Several values are joined by commas. Objects have no text. */
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

export const dataKeysOf = (message: object): string[] => [
  ...new Set(tagsOf(message, '').flatMap(({ name }) => readPath(name, 'data')?.slice(0, 1) ?? [])),
]
