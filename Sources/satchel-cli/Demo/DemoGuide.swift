import Satchel

/// The demo's store with a travel guide: content for places, what the traveller set, and their trips.
struct DemoGuide {
  let path: String

  init(in folder: DemoFolder) throws { path = folder.file("guide.satchel") }

  func write() throws {
    // Content that expires within hours was delivered two days ago.
    try deliver(Self.earlier, hoursAgo: 48)
    try deliver(Self.deliveries, hoursAgo: 0)
    let store = try Store(path: path)
    defer { try? store.close() }
    try store.catalogue.setActiveLocation(
      Location(
        latitude: 41.1496, longitude: -8.611, locality: "Porto", adminArea: "Porto", countryCode: "PT"))
    try store.state.set("units", "metric")
    try store.state.set("map", ["zoom": 14, "layer": "terrain"] as JSONValue)
    let searches = try store.state.list("searches", limit: 10)
    for text in ["francesinha", "azulejos", "soup dumplings"] { try searches.push(.string(text)) }
    try store.state.set(named: "favourites").add("cuisine:francesinha")
    try store.state.flush()
    let trips = try store.records("trips", indexes: [RecordIndex("from")])
    try trips.put("portugal", ["title": "Porto and Lisbon", "from": "2026-05-29", "to": "2026-07-05"])
    try trips.put("shanghai", ["title": "A week in Shanghai", "from": "2027-04-10", "to": "2027-04-17"])
    try store.close()
  }

  private func deliver(_ text: String, hoursAgo: Int64) throws {
    var options = StoreOptions()
    options.clock = Clock { Clock.system.now() - hoursAgo * 3_600_000 }
    let store = try Store(path: path, options: options)
    defer { try? store.close() }
    for delivery in try JSONValue(parsing: text).arrayValue ?? [] { try store.catalogue.deliver(delivery) }
    try store.close()
  }
}

extension DemoGuide {
  private static let earlier = #"""
    [
      {
        "location": {"latitude": 41.1496, "longitude": -8.611, "locality": "Porto", "admin_area": "Porto",
          "country_code": "PT", "country_name": "Portugal"},
        "sections": [
          {"section": "today", "display_title": "Today in Porto", "content": {
            "Weather": {"text": "Sunny, 24 degrees, wind from the sea",
              "_storage": {"entity_id": "today:porto_weather", "scope": "locality", "ttl_hours": 6}},
            "Market": {"text": "Mercado do Bolhão is open until eight",
              "_storage": {"entity_id": "today:porto_market", "scope": "locality", "ttl_hours": 24}}}}
        ]
      }
    ]
    """#

  /// As a backend sends them: an entity says for which area it holds, and for how long.
  private static let deliveries = #"""
    [
      {
        "location": {"latitude": 41.1496, "longitude": -8.611, "locality": "Porto", "admin_area": "Porto",
          "country_code": "PT", "country_name": "Portugal"},
        "sections": [
          {"section": "cuisine", "display_title": "What to eat", "config": {"render_type": "card"}, "content": {
            "Francesinha": {
              "description": "A sandwich of ham, sausage and steak under melted cheese, in a sauce of beer and tomato.",
              "price": "€€",
              "_storage": {"entity_id": "cuisine:francesinha", "scope": "locality", "ttl_hours": 720}},
            "Caldo verde": {
              "description": "Soup of potatoes and shredded kale, with a slice of chouriço.", "price": "€",
              "_storage": {"entity_id": "cuisine:caldo_verde", "scope": "country", "ttl_hours": 8760}},
            "Pastel de nata": {
              "description": "Custard in puff pastry, best while it is warm.", "price": "€",
              "_storage": {"entity_id": "cuisine:pastel_de_nata", "scope": "country", "ttl_hours": 8760}}}},
          {"section": "sights", "display_title": "What to see", "content": {"items": [
            {"local_name": "Ponte de Dom Luís I", "description": "Two decks of iron over the Douro, since 1886.",
              "_storage": {"entity_id": "sights:dom_luis", "scope": "locality", "ttl_hours": 2160}},
            {"local_name": "São Bento", "description": "A station whose hall has twenty thousand painted tiles.",
              "_storage": {"entity_id": "sights:sao_bento", "scope": "locality", "ttl_hours": 2160}}]}},
          {"section": "phrases", "display_title": "What to say", "content": {
            "Bom dia": {"meaning": "Good morning",
              "_storage": {"entity_id": "phrases:bom_dia", "scope": "country", "ttl_hours": 8760}},
            "Obrigada, obrigado": {"meaning": "Thank you, said by a woman, by a man",
              "_storage": {"entity_id": "phrases:obrigado", "scope": "country", "ttl_hours": 8760}}}}
        ]
      },
      {
        "location": {"latitude": 38.7223, "longitude": -9.1393, "locality": "Lisboa", "admin_area": "Lisboa",
          "country_code": "PT", "country_name": "Portugal"},
        "sections": [
          {"section": "sights", "display_title": "What to see", "content": {"items": [
            {"local_name": "Torre de Belém", "description": "A tower in the Tejo that guarded the harbour.",
              "_storage": {"entity_id": "sights:belem", "scope": "locality", "ttl_hours": 2160}},
            {"local_name": "Elétrico 28", "description": "The yellow tram through the oldest streets.",
              "_storage": {"entity_id": "sights:tram_28", "scope": "locality", "ttl_hours": 2160}}]}}
        ]
      },
      {
        "location": {"latitude": 31.2305, "longitude": 121.4737, "locality": "Shanghai", "admin_area": "Shanghai",
          "country_code": "CN", "country_name": "China"},
        "sections": [
          {"section": "cuisine", "display_title": "What to eat", "content": {
            "Xiaolongbao": {"local_name": "小笼包", "description": "Dumplings with soup inside: bite, sip, then eat.",
              "_storage": {"entity_id": "cuisine:xiaolongbao", "scope": "locality", "ttl_hours": 720}},
            "Tea": {"local_name": "茶", "description": "With every meal, and between them.",
              "_storage": {"entity_id": "cuisine:tea", "scope": "country", "ttl_hours": 8760}}}}
        ]
      }
    ]
    """#
}
