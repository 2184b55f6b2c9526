import type { RoutableProject } from '../../../server/router/index.ts'

const day = { type: 'string', format: 'date' } as const
const time = { type: 'string', format: 'time' } as const
const carrier = { type: 'string', 'x-values-from': 'carriers.name' } as const
const year = { type: 'integer', minimum: 2000, maximum: 2100 } as const

/** A freight depot: days, hours, weights and numbers of many kinds beside each other. Written for these tests. */
export const depot: RoutableProject = {
  values: {
    'carriers.name': ['Nordfracht', 'Blue Arrow', 'Transalpina', 'Quickship', 'Ocean & Co'],
    'countries.code': [
      { label: 'Germany', value: 'DE' },
      { label: 'Netherlands', value: 'NL' },
      { label: 'Italy', value: 'IT' },
    ],
  },
  queries: [
    {
      name: 'track_shipment',
      description: 'Where a shipment is now, by tracking number',
      slots: {
        properties: { tracking_number: { type: 'string', pattern: '^[A-Z]{2}\\d{9}$' } },
        required: ['tracking_number'],
      },
      examples: [
        { question: 'where is NL123456789', parameters: { tracking_number: 'NL123456789' } },
        { question: 'track parcel DE000111222', parameters: { tracking_number: 'DE000111222' } },
      ],
    },
    {
      name: 'shipments_by_status',
      description: 'Shipments in one or more states',
      slots: {
        properties: {
          statuses: {
            type: 'array',
            items: {
              type: 'string',
              enum: ['booked', 'in_transit', 'at_customs', 'delivered', 'lost'],
              'x-synonyms': { in_transit: ['on the way'], at_customs: ['stuck at customs', 'customs'] },
            },
          },
        },
        required: ['statuses'],
      },
      examples: [
        { question: 'shipments in transit', parameters: { statuses: ['in_transit'] } },
        { question: 'what is booked or stuck at customs', parameters: { statuses: ['booked', 'at_customs'] } },
      ],
    },
    {
      name: 'dangerous_goods',
      description: 'Shipments with dangerous goods going to some countries',
      slots: {
        properties: { countries: { type: 'array', items: { type: 'string', 'x-values-from': 'countries.code' } } },
      },
      examples: [{ question: 'dangerous goods to Germany and Italy', parameters: { countries: ['DE', 'IT'] } }],
    },
    {
      name: 'deliveries_on',
      description: 'Deliveries planned for a day',
      slots: { properties: { date: day }, required: ['date'] },
      examples: [
        { question: 'deliveries tomorrow', parameters: {} },
        { question: 'what do we deliver on 4 December', parameters: {} },
      ],
    },
    {
      name: 'driver_hours',
      description: 'Hours that were driven in a week',
      slots: { properties: { week_of: day }, required: ['week_of'] },
      examples: [{ question: 'driving hours this week', parameters: {} }],
    },
    {
      name: 'on_time_rate',
      description: 'Punctuality of a carrier',
      slots: { properties: { carrier, since: day }, required: ['carrier'] },
      examples: [
        { question: 'how punctual is Transalpina', parameters: { carrier: 'Transalpina' } },
        { question: 'on-time rate of Blue Arrow since June', parameters: { carrier: 'Blue Arrow' } },
      ],
    },
    {
      name: 'late_shipments',
      description: 'Shipments that are late by more than a number of days',
      slots: { properties: { days: { type: 'integer', minimum: 0, maximum: 60, default: 0 }, carrier } },
      examples: [
        { question: 'which shipments are late', parameters: {} },
        { question: 'shipments more than 3 days late', parameters: { days: 3 } },
      ],
    },
    {
      name: 'shipments_by_weight',
      description: 'Shipments with a weight in kilograms between two bounds',
      slots: { properties: { min_kg: { type: 'number', minimum: 0 }, max_kg: { type: 'number', minimum: 0 } } },
      examples: [
        { question: 'shipments between 100 and 500 kg', parameters: { min_kg: 100, max_kg: 500 } },
        { question: 'shipments heavier than 2000 kg', parameters: { min_kg: 2000 } },
        { question: 'parcels under 5 kg', parameters: { max_kg: 5 } },
      ],
    },
    {
      name: 'debtors',
      description: 'Customers who owe at least an amount for a number of days or more',
      slots: {
        properties: {
          days: { type: 'integer', minimum: 1, maximum: 1000, default: 1 },
          min_amount: { type: 'number', minimum: 0, default: 0 },
        },
      },
      examples: [
        { question: 'customers overdue for 60 days or more', parameters: { days: 60 } },
        { question: 'customers who owe at least 200 euros for 30 days', parameters: { days: 30, min_amount: 200 } },
      ],
    },
    {
      name: 'top_customers',
      description: 'Customers with the most shipments',
      slots: { properties: { limit: { type: 'integer', minimum: 1, maximum: 100, default: 10 }, year } },
      examples: [
        { question: 'our biggest customers', parameters: {} },
        { question: 'top 5 customers in 2024', parameters: { limit: 5, year: 2024 } },
      ],
    },
    {
      name: 'freight_bills',
      description: 'Freight bills over an amount in a month of a year',
      slots: {
        properties: {
          amount: { type: 'number', minimum: 0 },
          year,
          month: { type: 'integer', minimum: 1, maximum: 12 },
        },
        required: ['amount'],
      },
      examples: [
        { question: 'freight bills over 400 euros', parameters: { amount: 400 } },
        {
          question: 'freight bills above 1000 in month 3 of 2025',
          parameters: { amount: 1000, month: 3, year: 2025 },
        },
      ],
    },
    {
      name: 'pickup_windows',
      description: 'Free pickup windows on a day after a time',
      slots: { properties: { date: day, not_before: time }, required: ['date'] },
      examples: [
        { question: 'free pickup windows tomorrow', parameters: {} },
        { question: 'when can we collect on Friday after 14:00', parameters: {} },
      ],
    },
    {
      name: 'gate_arrivals',
      description: 'Trucks that came through the gate on a day between two times',
      slots: { properties: { date: day, from_time: time, to_time: time }, required: ['date', 'from_time', 'to_time'] },
      examples: [{ question: 'trucks at the gate yesterday between 8am and noon', parameters: {} }],
    },
    {
      name: 'busiest_routes',
      description: 'The routes with the most transports in a period',
      slots: {
        properties: { limit: { type: 'integer', minimum: 1, maximum: 50, default: 10 }, from: day, to: day },
      },
      examples: [
        { question: 'busiest routes', parameters: {} },
        { question: 'top 5 routes by transports', parameters: { limit: 5 } },
      ],
    },
    {
      name: 'customs_file',
      description: 'The customs file of a number',
      slots: {
        properties: { file_number: { type: 'string', pattern: '^\\d{2}-?\\d{6}$' } },
        required: ['file_number'],
      },
      examples: [{ question: 'customs file 26-004512', parameters: { file_number: '26-004512' } }],
    },
    {
      name: 'fleet',
      description: 'Vehicles of a kind',
      slots: { properties: { kind: { type: 'string', enum: ['truck', 'van', 'trailer'] } }, required: ['kind'] },
      examples: [{ question: 'list our vans', parameters: { kind: 'van' } }],
    },
    {
      name: 'co2_of_carrier',
      description: 'CO2 emissions of a carrier in a year',
      slots: { properties: { carrier, year }, required: ['carrier', 'year'] },
      examples: [],
    },
    {
      name: 'find_remark',
      description: 'Shipments whose remark mentions a text',
      slots: { properties: { text: { type: 'string' } }, required: ['text'] },
      examples: [{ question: 'remarks that mention broken pallet', parameters: { text: 'broken pallet' } }],
    },
  ],
}
