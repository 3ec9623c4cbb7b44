import Satchel

/// The content of the page of `satchel report`, read part by part: a part that cannot be read, because it is
/// damaged, does not hide the others.
struct StoreReport {
  /// A part of the store, or the reason why it cannot be read.
  enum Part<Value> {
    case read(Value)
    case unreadable(String)

    init(_ read: () throws -> Value) throws {
      do { self = .read(try read()) } catch let error as SatchelError { self = .unreadable(error.message) }
    }

    var value: Value? {
      if case .read(let value) = self { return value }
      return nil
    }
  }

  /// A location that content was delivered for.
  struct Place {
    var context: ContextSummary
    var isActive: Bool
    var sections: [PlaceSection]
  }

  /// A section of a place, with the numbers of its entities.
  struct PlaceSection {
    var name: String
    var title: String?
    var updated: Int64
    var fresh: Int
    var expired: Int
    var missing: Int
    /// When the first of the fresh entities expires: Unix milliseconds; nil without fresh entities.
    var expires: Int64?
  }

  struct Places {
    /// The latest ones.
    var shown: [Place]
    var count: Int
  }

  /// A catalogue of photos.
  struct Album {
    var status: PhotoStatus
    var safety: PhotoSafety
    /// The numbers of photos by month, "2026-06", the earliest first; by year where there are many months.
    var periods: [(name: String, count: Int)]
    var starred: Int
  }

  /// A value of the state.
  struct Value {
    var key: String
    /// JSON; nil for a value that is stored encrypted.
    var text: String?
  }

  struct State {
    var shown: [Value]
    var count: Int
  }

  let info: StoreInfo
  /// Unix milliseconds.
  let time: Int64
  let findings: [StoreFinding]
  let statistics: Part<StoreStatistics>
  let places: Part<Places>
  let regions: Part<[RegionSummary]>
  let failedRequests: Part<[FailedRequest]>
  let albums: Part<[Album]>
  let collections: Part<[CollectionInfo]>
  let state: Part<State>
  let assets: Part<AssetStatistics>
  let syncStatus: Part<StoreSyncStatus>

  /// The maximum numbers of places and of values that are shown.
  static let maxPlaces = 200
  static let maxValues = 200
  /// The maximum number of months before photos are counted by year.
  private static let maxMonths = 36

  init(_ store: Store) throws {
    info = try store.info()
    time = Clock.system.now()
    findings = try store.check()
    statistics = try Part { try store.statistics() }
    places = try Part { try Self.places(store.catalogue) }
    regions = try Part { try store.catalogue.regions.list() }
    failedRequests = try Part { try store.catalogue.failedRequests() }
    albums = try Part {
      try PhotoCatalogue.directories(in: store.database).map { try Self.album($0, in: store) }
    }
    collections = try Part { try store.collections() }
    state = try Part { try Self.state(store.state) }
    assets = try Part { try store.assets.statistics() }
    syncStatus = try Part { try store.syncStatus() }
  }

  /// Whether the check has no findings, and every part can be read.
  var isSound: Bool {
    findings.isEmpty && statistics.value != nil && places.value != nil && regions.value != nil
      && failedRequests.value != nil && albums.value != nil
      && collections.value != nil && state.value != nil && assets.value != nil && syncStatus.value != nil
  }

  // MARK: Reading

  private static func places(_ catalogue: Catalogue) throws -> Places {
    let contexts = try catalogue.contexts()
    let active = try catalogue.activeLocation()
    var variants: [String: [String: [StoredEntity]]] = [:]
    let shown = try contexts.prefix(maxPlaces).map { context in
      let plans = try catalogue.plan(for: context.location, inherit: false)
      let sections = try catalogue.sections(at: context.location, inherit: false).map { header in
        let name = header.section
        if variants[name] == nil {
          variants[name] = Dictionary(grouping: try catalogue.entities(of: name), by: \.entityID)
        }
        let plan = plans.first { $0.section.utf8.elementsEqual(name.utf8) }?.plan
        let times = (plan?.fresh ?? []).compactMap { id in
          variants[name]?[id]?.first { $0.covers(context.location) }?.expiresAt
        }
        return PlaceSection(
          name: name, title: header.displayTitle, updated: header.updatedAt, fresh: plan?.fresh.count ?? 0,
          expired: plan?.expired.count ?? 0, missing: plan?.missing.count ?? 0, expires: times.min())
      }
      return Place(
        context: context, isActive: active.map { $0.isSamePlace(as: context.location) } ?? false,
        sections: sections)
    }
    return Places(shown: shown, count: contexts.count)
  }

  private static func album(_ directory: String, in store: Store) throws -> Album {
    let photos = try store.photos(in: directory)
    defer { try? photos.close() }
    var starred = PhotoQuery()
    starred.isStarred = true
    var all = PhotoQuery()
    all.clock = .local
    var periods = try photos.counts(by: .month, all).map { (name: $0.key ?? "", count: Int($0.photos)) }
    if periods.count > maxMonths {
      var years: [String: Int] = [:]
      for (month, count) in periods { years[String(month.prefix(4)), default: 0] += count }
      periods = years.sorted { $0.key < $1.key }.map { (name: $0.key, count: $0.value) }
    }
    return Album(
      status: try photos.status(), safety: try photos.safety(), periods: periods,
      starred: Int(try photos.count(starred)))
  }

  private static func state(_ state: StateStore) throws -> State {
    let keys = try state.keys()
    let shown = try keys.prefix(maxValues).map { key in
      do {
        return Value(key: key, text: try state.get(key)?.text ?? "")
      } catch let error as SatchelError where error.code == .unauthorized {
        // The tool has no encryption key: content that it cannot read is sensitive.
        return Value(key: key, text: nil)
      }
    }
    return State(shown: shown, count: keys.count)
  }
}

extension StoredEntity {
  /// Whether this variant is the one that a location sees.
  fileprivate func covers(_ location: Location) -> Bool {
    guard let place else { return true }
    return location.keys.contains { $0.level.name == scope.name && $0.text == place }
  }
}
