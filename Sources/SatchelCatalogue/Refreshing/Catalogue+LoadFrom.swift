import SatchelCore
import SatchelRemote

extension Catalogue {
  /// Returns a section, and keeps it fresh: what is stored is returned at once, also when it is expired, and the source is
  /// asked for it on a thread of the store where that is due; observers and sessions are notified of what changed. Where
  /// nothing is stored, the call waits for the source.
  ///
  /// - Parameters:
  ///   - source: also called after this call, until the store is closed
  ///   - inherit: whether the section may be inherited; see `sections`
  ///   - nearby: see `sections`
  /// - Returns: nil when neither the store nor the source has the section
  /// - Throws: `SatchelError` `.unavailable` when nothing is stored and the source fails, or is not to be asked yet; as
  ///   `load` and `refresh`
  public func load(
    _ section: String, at location: Location, from source: any ContentSource,
    options: RefreshOptions = RefreshOptions(), inherit: Bool = true,
    nearby: Double = Catalogue.defaultNearby, cancellation: Cancellation = .never
  ) throws -> Section? {
    func stored() throws -> Section? {
      try load(section, at: location, allowExpired: true, inherit: inherit, nearby: nearby)
    }
    if let stored = try stored() {
      if !database.options.isReadOnly { try refreshLater(section, at: location, from: source, options) }
      return stored
    }
    let report = try refresh(
      location, sections: [section], from: source, options: options, cancellation: cancellation)
    guard let reason = report.reasonOfNothing else { return try stored() }
    throw SatchelError(.unavailable, "section \(section): nothing is stored, and \(reason)")
  }

  private func refreshLater(
    _ section: String, at location: Location, from source: any ContentSource, _ options: RefreshOptions
  ) throws {
    let refreshes = lazyRefreshes.value { RefreshQueue() }
    let cancellation = refreshes.cancellation
    try refreshes.add(RefreshTable.key(location) + "\u{1E}" + section) { [weak self] in
      // A later load sends a request that failed again, when it is due.
      _ = try? self?.refresh(
        location, sections: [section], from: source, options: options, cancellation: cancellation)
    }
  }

  /// Ends the requests of `load(_:at:from:)`, and waits for the one in progress.
  package func stopRefreshing() { lazyRefreshes.known?.stop() }
}

extension RefreshReport {
  /// Why the source did not answer; nil when it did.
  var reasonOfNothing: String? {
    if let failure = failed.first { return "the source fails: \(failure.message)" }
    switch skipped.first?.reason {
    case nil, .fresh: return nil
    case .waiting: return "the source failed before, and is not to be asked yet"
    case .network: return "there is no network for it"
    case .busy: return "another call was asking, and has no answer"
    }
  }
}

/// The requests for which no call waits, one after the other.
final class RefreshQueue: Sendable {
  private let worker = Worker()
  private let pending = Locked<Set<String>>([])
  private let isStopped = Locked(false)

  /// Ends the request in progress when the queue is stopped.
  var cancellation: Cancellation { Cancellation { [isStopped] in isStopped.withLock { $0 } } }

  /// Enqueues a request, unless one with the same key waits.
  func add(_ key: String, _ request: @escaping @Sendable () -> Void) throws {
    guard pending.withLock({ $0.insert(key).inserted }) else { return }
    try worker.add { [pending] in
      _ = pending.withLock { $0.remove(key) }
      request()
    }
  }

  func stop() {
    isStopped.withLock { $0 = true }
    worker.stop()
  }
}
