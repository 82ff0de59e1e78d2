/** A contact, as the screens name it. */
import type { components } from '../../api/generated/v1.ts'

export type Contact = components['schemas']['Contact']

/** What people call it: its name, or else what it is reached by. */
export const nameOf = ({ full_name, phone, email, identifiers, id }: Contact): string =>
  full_name ?? phone ?? email ?? Object.values(identifiers)[0] ?? id
