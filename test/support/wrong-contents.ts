/** Invalid content of every type, for tests of validation. */
const url = 'https://example.com/a'
const body = { text: 'Hi' }
const replies = (...ids: string[]) => ids.map((id) => ({ reply: { id, title: `T${id}` } }))
export const rows = (count: number, prefix = 'r') =>
  Array.from({ length: count }, (_, i) => ({ id: `${prefix}${i}`, title: 'Row' }))
export const items = (count: number) => Array.from({ length: count }, (_, i) => ({ product_retailer_id: `SKU-${i}` }))
const button = (buttons: unknown) => ({ body, action: { buttons } })
export const list = (sections: unknown) => ({ body, action: { button: 'Choose', sections } })
const ctaUrl = (address: unknown) => ({ body, action: { parameters: { display_text: 'Go', url: address } } })
const flow = (parameters: unknown) => ({ body, action: { parameters } })
export const productList = (sections: unknown) => ({
  header: { text: 'Picks' },
  body,
  action: { catalog_id: '1', sections },
})
export const urlCard = { header: { type: 'image', url }, action: { parameters: { display_text: 'Go', url } } }
export const replyCard = (...ids: string[]) => ({
  header: { type: 'image', url },
  action: { buttons: replies(...ids) },
})
export const carousel = (...cards: unknown[]) => ({ body, cards })
const template = (components: unknown) => ({ name: 'a', language: { code: 'en' }, components })
const card = (more: object) => [{ name: { formatted_name: 'Ada' }, ...more }]

/** Type, value, and all expected errors (path and code). */
export const wrongContents: readonly (readonly [type: string, value: unknown, ...expected: string[]])[] = [
  ['text', null, 'text invalid_type'],
  ['text', 'Hi', 'text invalid_type'],
  ['text', [{ body: 'Hi' }], 'text invalid_type'],
  ['text', {}, 'text.body missing_field'],
  ['text', { body: '' }, 'text.body too_short'],
  ['text', { body: 7 }, 'text.body invalid_type'],
  ['text', { body: ['Hi'] }, 'text.body invalid_type'],
  ['text', { body: 'x'.repeat(4097) }, 'text.body too_long'],

  ['attachments', { type: 'image', url }, 'attachments invalid_type'],
  ['attachments', [], 'attachments too_few'],
  ['attachments', Array(11).fill({ type: 'image', url }), 'attachments too_many'],
  ['attachments', [null, { type: 'image', url }], 'attachments[0] invalid_type'],
  ['attachments', [{ type: 'gif', url }], 'attachments[0].type invalid_value'],
  ['attachments', [{ type: 'image', url: 'http://example.com/a' }], 'attachments[0].url invalid_format'],
  ['attachments', [{ type: 'image', url: 'https://' }], 'attachments[0].url invalid_format'],
  ['attachments', [{ type: 'image', url: 'https://exa mple.com' }], 'attachments[0].url invalid_format'],
  ['attachments', [{ type: 'image', url: ' https://example.com' }], 'attachments[0].url invalid_format'],
  ['attachments', [{ type: 'image', url: 'file:///etc/passwd' }], 'attachments[0].url invalid_format'],
  ['attachments', [{ type: 'image', url, caption: 'x'.repeat(1025) }], 'attachments[0].caption too_long'],
  [
    'attachments',
    [{ type: 'image', url }, { url: 7 }],
    'attachments[1].type missing_field',
    'attachments[1].url invalid_type',
  ],

  ['template', { language: {} }, 'template.name missing_field', 'template.language.code missing_field'],
  ['template', { name: 'a', language: 'en' }, 'template.language invalid_type'],
  ['template', { name: '', language: { code: '' } }, 'template.name too_short', 'template.language.code too_short'],
  ['template', { name: 'x'.repeat(513), language: { code: 'en' } }, 'template.name too_long'],
  ['template', template({}), 'template.components invalid_type'],
  [
    'template',
    template([{ parameters: 'x' }]),
    'template.components[0].type missing_field',
    'template.components[0].parameters invalid_type',
  ],
  [
    'template',
    template([{ type: 'body', parameters: [{ type: 'text', text: 5 }] }]),
    'template.components[0].parameters[0].text invalid_type',
  ],
  [
    'template',
    template([{ type: 'body', parameters: [{ type: 'text', text: 'a' }, { type: 'text' }] }]),
    'template.components[0].parameters[1].text missing_field',
  ],
  [
    'template',
    template([{ type: 'body', parameters: [null, 3] }]),
    'template.components[0].parameters[0] invalid_type',
    'template.components[0].parameters[1] invalid_type',
  ],

  ['button', {}, 'button.body missing_field', 'button.action missing_field'],
  ['button', { body: [], action: [] }, 'button.body invalid_type', 'button.action invalid_type'],
  ['button', button([]), 'button.action.buttons too_few'],
  ['button', button(replies('1', '2', '3', '4')), 'button.action.buttons too_many'],
  ['button', button({ reply: { id: 'a', title: 'A' } }), 'button.action.buttons invalid_type'],
  ['button', button([{ id: 'a', title: 'A' }]), 'button.action.buttons[0].reply missing_field'],
  ['button', button([{ reply: { id: 'a', title: 'x'.repeat(21) } }]), 'button.action.buttons[0].reply.title too_long'],
  ['button', button([{ reply: { id: 'x'.repeat(257), title: 'A' } }]), 'button.action.buttons[0].reply.id too_long'],
  [
    'button',
    button([{ reply: { id: '', title: '' } }]),
    'button.action.buttons[0].reply.id too_short',
    'button.action.buttons[0].reply.title too_short',
  ],
  [
    'button',
    button(replies('a', 'b', 'a')),
    'button.action.buttons[2].reply.id invalid_value',
    'button.action.buttons[2].reply.title invalid_value',
  ],
  [
    'button',
    button([{ reply: { id: 'a', title: 'Same' } }, { reply: { id: 'b', title: 'Same' } }]),
    'button.action.buttons[1].reply.title invalid_value',
  ],
  [
    'button',
    { ...button(replies('a')), body: { text: 'x'.repeat(1025) }, footer: { text: 'x'.repeat(61) } },
    'button.body.text too_long',
    'button.footer.text too_long',
  ],
  ['button', { ...button(replies('a')), header: { type: 'text' } }, 'button.header.text missing_field'],
  [
    'button',
    { ...button(replies('a')), header: { type: 'image', text: 'no file' } },
    'button.header.url missing_field',
  ],
  [
    'button',
    { ...button(replies('a')), header: { type: 'text', text: 'x'.repeat(61) } },
    'button.header.text too_long',
  ],
  [
    'button',
    { ...button(replies('a')), header: { type: 'video', url: 'http://example.com' } },
    'button.header.url invalid_format',
  ],
  ['button', { ...button(replies('a')), header: { type: 'sticker' } }, 'button.header.type invalid_value'],
  ['button', { ...button(replies('a')), header: 'Hello' }, 'button.header invalid_type'],

  ['list', { body, action: { sections: [] } }, 'list.action.button missing_field', 'list.action.sections too_few'],
  ['list', { body, action: { button: 'x'.repeat(21), sections: [{ rows: rows(1) }] } }, 'list.action.button too_long'],
  ['list', list({ rows: rows(1) }), 'list.action.sections invalid_type'],
  [
    'list',
    list(Array.from({ length: 11 }, (_, i) => ({ title: 'S', rows: rows(1, `${i}-`) }))),
    'list.action.sections too_many',
    'list.action.sections too_many',
  ],
  ['list', list([{ rows: rows(11) }]), 'list.action.sections[0].rows too_many'],
  ['list', list([{ rows: [] }]), 'list.action.sections[0].rows too_few'],
  [
    'list',
    list([
      { title: 'A', rows: rows(6, 'a') },
      { title: 'B', rows: rows(5, 'b') },
    ]),
    'list.action.sections too_many',
  ],
  [
    'list',
    list([{ title: 'A', rows: rows(1, 'a') }, { rows: rows(1, 'b') }]),
    'list.action.sections[1].title missing_field',
  ],
  [
    'list',
    list([
      { title: '', rows: rows(1, 'a') },
      { title: null, rows: rows(1, 'b') },
    ]),
    'list.action.sections[0].title too_short',
    'list.action.sections[1].title missing_field',
  ],
  ['list', list([{ title: 'x'.repeat(25), rows: rows(1) }]), 'list.action.sections[0].title too_long'],
  [
    'list',
    list([
      { title: 'A', rows: rows(1) },
      { title: 'B', rows: rows(1) },
    ]),
    'list.action.sections[1].rows[0].id invalid_value',
  ],
  [
    'list',
    list([{ rows: [{ id: 'x'.repeat(201), title: 'x'.repeat(25), description: 'x'.repeat(73) }] }]),
    'list.action.sections[0].rows[0].id too_long',
    'list.action.sections[0].rows[0].title too_long',
    'list.action.sections[0].rows[0].description too_long',
  ],
  [
    'list',
    list([{ rows: ['one', {}] }]),
    'list.action.sections[0].rows[0] invalid_type',
    'list.action.sections[0].rows[1].id missing_field',
    'list.action.sections[0].rows[1].title missing_field',
  ],

  ['cta_url', ctaUrl(undefined), 'cta_url.action.parameters.url missing_field'],
  ['cta_url', ctaUrl('example.com'), 'cta_url.action.parameters.url invalid_format'],
  ['cta_url', ctaUrl('javascript:alert(1)'), 'cta_url.action.parameters.url invalid_format'],
  ['cta_url', ctaUrl(''), 'cta_url.action.parameters.url invalid_format'],
  [
    'cta_url',
    { body, action: { parameters: { display_text: 'x'.repeat(21), url } } },
    'cta_url.action.parameters.display_text too_long',
  ],
  ['cta_url', { body, action: {} }, 'cta_url.action.parameters missing_field'],

  ['location', {}, 'location.latitude missing_field', 'location.longitude missing_field'],
  [
    'location',
    { latitude: '52.5', longitude: null },
    'location.latitude invalid_type',
    'location.longitude invalid_type',
  ],
  [
    'location',
    { latitude: 90.01, longitude: -180.01 },
    'location.latitude invalid_value',
    'location.longitude invalid_value',
  ],
  [
    'location',
    { latitude: 1e308, longitude: Infinity },
    'location.latitude invalid_value',
    'location.longitude invalid_value',
  ],
  ['location', { latitude: Number.NaN, longitude: 0 }, 'location.latitude invalid_type'],
  [
    'location',
    { latitude: 0, longitude: 0, name: 7, address: {} },
    'location.name invalid_type',
    'location.address invalid_type',
  ],

  ['contacts', { name: { formatted_name: 'Ada' } }, 'contacts invalid_type'],
  ['contacts', [], 'contacts too_few'],
  ['contacts', Array(21).fill(card({})[0]), 'contacts too_many'],
  ['contacts', [{}], 'contacts[0].name missing_field'],
  [
    'contacts',
    [{ name: 'Ada' }, { name: {} }],
    'contacts[0].name invalid_type',
    'contacts[1].name.formatted_name missing_field',
  ],
  ['contacts', card({ phones: '+14155550100' }), 'contacts[0].phones invalid_type'],
  [
    'contacts',
    card({ phones: [{ type: 'WORK' }, { phone: 14155550100 }] }),
    'contacts[0].phones[0].phone missing_field',
    'contacts[0].phones[1].phone invalid_type',
  ],
  [
    'contacts',
    card({ emails: [{}], urls: [{}], addresses: [[]] }),
    'contacts[0].emails[0].email missing_field',
    'contacts[0].urls[0].url missing_field',
    'contacts[0].addresses[0] invalid_type',
  ],
  ['contacts', card({ org: 'Analytical' }), 'contacts[0].org invalid_type'],
  ['contacts', card({ birthday: '10.12.1990' }), 'contacts[0].birthday invalid_format'],
  ['contacts', card({ birthday: '2023-02-29' }), 'contacts[0].birthday invalid_format'],
  ['contacts', card({ birthday: '1990-13-01' }), 'contacts[0].birthday invalid_format'],

  ['flow', flow({ flow_cta: 'Go' }), 'flow.action.parameters.flow_id missing_field'],
  ['flow', flow({ flow_cta: 'Go', flow_id: '1', flow_name: 'a' }), 'flow.action.parameters.flow_name invalid_value'],
  [
    'flow',
    flow({ flow_id: 7 }),
    'flow.action.parameters.flow_id invalid_type',
    'flow.action.parameters.flow_cta missing_field',
  ],
  ['flow', flow({ flow_id: '1', flow_cta: 'x'.repeat(21) }), 'flow.action.parameters.flow_cta too_long'],
  [
    'flow',
    flow({ flow_id: '1', flow_cta: 'Go', mode: 'live', flow_action: 'open', flow_action_payload: 'x' }),
    'flow.action.parameters.mode invalid_value',
    'flow.action.parameters.flow_action invalid_value',
    'flow.action.parameters.flow_action_payload invalid_type',
  ],
  ['flow', flow([]), 'flow.action.parameters invalid_type'],

  ['product', {}, 'product.action missing_field'],
  [
    'product',
    { action: {} },
    'product.action.catalog_id missing_field',
    'product.action.product_retailer_id missing_field',
  ],
  [
    'product',
    { body: 'Hi', action: { catalog_id: 1, product_retailer_id: '' } },
    'product.body invalid_type',
    'product.action.catalog_id invalid_type',
    'product.action.product_retailer_id too_short',
  ],

  [
    'product_list',
    {},
    'product_list.header missing_field',
    'product_list.body missing_field',
    'product_list.action missing_field',
  ],
  [
    'product_list',
    { ...productList([{ product_items: items(1) }]), header: { type: 'image', url } },
    'product_list.header.type invalid_value',
    'product_list.header.text missing_field',
  ],
  [
    'product_list',
    productList([{ product_items: items(31) }]),
    'product_list.action.sections[0].product_items too_many',
  ],
  [
    'product_list',
    productList([
      { title: 'A', product_items: items(16) },
      { title: 'B', product_items: items(15) },
    ]),
    'product_list.action.sections too_many',
  ],
  [
    'product_list',
    productList([{ title: 'A', product_items: [] }, { product_items: ['SKU-1'] }]),
    'product_list.action.sections[0].product_items too_few',
    'product_list.action.sections[1].product_items[0] invalid_type',
    'product_list.action.sections[1].title missing_field',
  ],

  ['catalog', {}, 'catalog.body missing_field'],
  ['catalog', { body, action: { parameters: [] } }, 'catalog.action.parameters invalid_type'],
  [
    'catalog',
    { body, action: { parameters: { thumbnail_product_retailer_id: 204 } } },
    'catalog.action.parameters.thumbnail_product_retailer_id invalid_type',
  ],

  ['carousel', carousel(urlCard), 'carousel.cards too_few'],
  ['carousel', carousel(...Array<unknown>(11).fill(urlCard)), 'carousel.cards too_many'],
  ['carousel', { body, cards: { 0: urlCard } }, 'carousel.cards invalid_type'],
  ['carousel', carousel(urlCard, null), 'carousel.cards[1] invalid_type'],
  ['carousel', carousel(urlCard, { action: urlCard.action }), 'carousel.cards[1].header missing_field'],
  [
    'carousel',
    carousel(urlCard, { ...urlCard, header: { type: 'document', url: 7 } }),
    'carousel.cards[1].header.type invalid_value',
    'carousel.cards[1].header.url invalid_type',
  ],
  [
    'carousel',
    carousel(urlCard, { ...urlCard, header: { type: 'video', url: 'https://example.com/a.mp4' } }),
    'carousel.cards[1].header.type invalid_value',
  ],
  [
    'carousel',
    carousel(urlCard, { ...urlCard, body: { text: 'x'.repeat(161) } }),
    'carousel.cards[1].body.text too_long',
  ],
  ['carousel', carousel(urlCard, { ...urlCard, action: {} }), 'carousel.cards[1].action.parameters missing_field'],
  [
    'carousel',
    carousel(urlCard, { ...urlCard, action: { ...urlCard.action, buttons: replies('a') } }),
    'carousel.cards[1].action invalid_value',
  ],
  ['carousel', carousel(urlCard, replyCard('a')), 'carousel.cards[1].action invalid_value'],
  ['carousel', carousel(replyCard('a', 'b'), replyCard('a')), 'carousel.cards[1].action invalid_value'],
  [
    'carousel',
    carousel(replyCard('a'), replyCard()),
    'carousel.cards[1].action.buttons too_few',
    'carousel.cards[1].action invalid_value',
  ],
  [
    'carousel',
    carousel(replyCard('a', 'a'), replyCard('a', 'b')),
    'carousel.cards[0].action.buttons[1].reply.id invalid_value',
    'carousel.cards[0].action.buttons[1].reply.title invalid_value',
  ],

  ['location_request', {}, 'location_request.body missing_field'],
  ['location_request', { body: 'Where?' }, 'location_request.body invalid_type'],
  ['location_request', { body: { text: '' } }, 'location_request.body.text too_short'],
]
