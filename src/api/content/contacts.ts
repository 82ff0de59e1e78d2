/** Content `contacts`: address cards. */
import { Type } from 'typebox'
import { contentType } from './content-type.ts'
import { list, maybe, text } from './fields.ts'

const word = (description: string) => maybe(text(0, undefined, description))
const kind = word('The kind, such as `CELL`, `HOME` or `WORK`.')

const card = Type.Object({
  name: Type.Object(
    {
      formatted_name: text(1, undefined, 'The whole name as it is shown.'),
      first_name: word('Given name.'),
      last_name: word('Family name.'),
    },
    { description: 'The person.' },
  ),
  phones: maybe(
    list(
      Type.Object({
        phone: text(1, undefined, 'The number.'),
        type: kind,
        wa_id: word('The WhatsApp id, which lets the recipient write directly.'),
      }),
      0,
      undefined,
      'Phone numbers.',
    ),
  ),
  emails: maybe(
    list(Type.Object({ email: text(1, undefined, 'The address.'), type: kind }), 0, undefined, 'E-mail addresses.'),
  ),
  org: maybe(
    Type.Object(
      { company: word('The company.'), department: word('The department.'), title: word('The job title.') },
      { description: 'Where the person works.' },
    ),
  ),
  urls: maybe(
    list(Type.Object({ url: text(1, undefined, 'The address.'), type: kind }), 0, undefined, 'Web addresses.'),
  ),
  addresses: maybe(
    list(
      Type.Object({
        street: word('Street and number.'),
        city: word('Town.'),
        state: word('State or province.'),
        zip: word('Postal code.'),
        country: word('Country in full.'),
        country_code: word('Country in two letters.'),
        type: kind,
      }),
      0,
      undefined,
      'Postal addresses.',
    ),
  ),
  birthday: maybe(Type.String({ format: 'date', description: 'Day of birth.' })),
})

export const contacts = contentType({
  summary: 'One to twenty address cards that the recipient can save.',
  schema: list(card, 1, 20, 'The cards.'),
  inbound_schema: list(card, 1, undefined, 'The cards.'),
  example: [
    {
      name: { formatted_name: 'Ada Lovelace', first_name: 'Ada', last_name: 'Lovelace' },
      phones: [{ phone: '+14155550100', type: 'WORK', wa_id: '14155550100' }],
      emails: [{ email: 'ada@example.com', type: 'WORK' }],
      org: { company: 'Analytical Engines', department: 'Support', title: 'Engineer' },
      urls: [{ url: 'https://example.com', type: 'WORK' }],
      addresses: [
        {
          street: '12 St James Square',
          city: 'London',
          state: 'England',
          zip: 'SW1Y 4JH',
          country: 'United Kingdom',
          country_code: 'gb',
          type: 'WORK',
        },
      ],
      birthday: '1990-12-10',
    },
  ],
  rules: [],
  direction: 'both',
})
