import SatchelCore
import SatchelJSON
import SatchelRemote
import SatchelStorage

extension Catalogue {
  /// Asks a source for what is expired, missing or old at a location, and stores its answers.
  ///
  /// Only one request at a time is sent for a location and section, by all threads and processes: other calls wait for
  /// its answer, and count it as theirs. After a failure the next request is sent 5 seconds later, then 10, and so on
  /// up to an hour, up to half of it earlier, at random, also after a restart; what is stored stays.
  ///
  /// - Parameters:
  ///   - sections: the sections, each by a request of its own; nil asks for all of the location at once
  ///   - source: called on this thread, outside of transactions
  /// - Throws: `SatchelError` `.cancelled`, also when the source throws that, `.invalid` in a transaction and for invalid
  ///   options, `.busy` in a source's own function, `.readOnly`, `.full`, `.io`, `.closed`. What single requests fail with
  ///   is in the report.
  @discardableResult
  public func refresh(
    _ location: Location, sections: [String]? = nil, from source: any ContentSource,
    options: RefreshOptions = RefreshOptions(), cancellation: Cancellation = .never
  ) throws -> RefreshReport {
    try database.refuseNetworkWork("content cannot be fetched in a transaction")
    try HostWork.refuse("\(database.path): content cannot be fetched", Refresher.work(database))
    guard !database.options.isReadOnly else {
      throw SatchelError(.readOnly, "\(database.path): opened read-only")
    }
    guard options.staleAfter >= 0 else {
      throw SatchelError(.invalid, "stale_after: \(options.staleAfter) is negative")
    }
    if let name = sections?.first(where: \.isEmpty) {
      throw SatchelError(.invalid, "sections: \"\(name)\" is not the name of a section")
    }
    var refresher = Refresher(
      catalogue: self, location: location, source: source, options: options, cancellation: cancellation)
    guard let sections else {
      try refresher.refresh(nil)
      return refresher.report
    }
    var names = IDList()
    for name in sections where names.insert(name) { try refresher.refresh(name) }
    return refresher.report
  }
}

/// The basis of a decision, in one state of the store.
private struct Known: Equatable {
  var stored: StoredContent
  /// The last request for the same.
  var row: RefreshRow?
  /// Of a section, the last request for all of the location.
  var place: RefreshRow?
}

/// Sends the requests of one refresh.
private struct Refresher {
  let catalogue: Catalogue
  let location: Location
  let source: any ContentSource
  let options: RefreshOptions
  let cancellation: Cancellation
  var report = RefreshReport()
  private let key: String
  /// A request of others that was sent since then serves this call as well, even if it forces one.
  private let start: Int64

  init(
    catalogue: Catalogue, location: Location, source: any ContentSource, options: RefreshOptions,
    cancellation: Cancellation
  ) {
    (self.catalogue, self.location, self.source) = (catalogue, location, source)
    (self.options, self.cancellation) = (options, cancellation)
    key = RefreshTable.key(location)
    start = catalogue.database.clock.now()
  }

  private var database: Database { catalogue.database }

  /// While a source's function runs, its thread must not ask another source, whose lease might be its own.
  static func work(_ database: Database) -> HostWork.Resource {
    HostWork.Resource(ObjectIdentifier(database), "refresh")
  }

  mutating func refresh(_ section: String?) throws {
    var hasWaited = false
    while true {
      try check()
      let known = try catalogue.reading(location) { try self.known(of: section, in: $0) }
      let isServed = hasWaited && (known.row?.askedAt ?? .max) >= start
      switch decision(known, force: options.force && !isServed) {
      case .wait:
        hasWaited = true
        do { try cancellation.wait(milliseconds: 20) } catch { throw SatchelError(converting: error) }
      case .skip(.fresh) where hasWaited:
        // The answer of the call that this one has waited for.
        guard known.stored.isStored else { return report.notFound.append(section) }
        return report.unchanged += try section.map { [$0] } ?? catalogue.ownSections(at: location)
      case .skip(let reason): return skip(section, reason)
      case .ask(let etag, let entities, let attempt, let isUrgent):
        switch options.network?() ?? .free {
        case .free: break
        case .metered where isUrgent: break
        case .metered, .none: return skip(section, .network)
        }
        guard let lease = try lease(section, after: known) else { continue }
        return try ask(
          ContentRequest(
            location: location, section: section, entities: entities, etag: etag, attempt: attempt,
            cancellation: cancellation), lease)
      }
    }
  }

  private func check() throws {
    if cancellation.isCancelled() {
      throw SatchelError(.cancelled, "\(database.path): cancelled by the caller")
    }
  }

  private mutating func skip(_ section: String?, _ reason: RefreshReport.Skipped.Reason) {
    report.skipped.append(RefreshReport.Skipped(section: section, reason: reason))
  }

  // MARK: Deciding

  private func known(of section: String?, in reader: SectionReader) throws -> Known {
    let table = try RefreshTable(existingIn: reader.connection)
    return Known(
      stored: try reader.stored(section), row: try table?.row(key, section),
      place: section == nil ? nil : try table?.row(key, nil))
  }

  private func decision(_ known: Known, force: Bool) -> RefreshDecision {
    RefreshDecision.make(
      known.stored, known.row, place: known.place, force: force,
      staleAfter: min(options.staleAfter, Catalogue.maxAge) * 1000, now: database.clock.now(),
      isAlive: LeaseOwner.isAlive)
  }

  // MARK: Leases

  /// Takes the lease.
  ///
  /// - Returns: the row with the lease; nil when another call has asked, or stored something, since the decision
  private func lease(_ section: String?, after known: Known) throws -> RefreshRow? {
    try write { table, transaction in
      let reader = SectionReader(catalogue: catalogue, connection: table.connection, location: location)
      guard try self.known(of: section, in: reader) == known else { return nil }
      var lease = RefreshRow(
        askedAt: transaction.now, attempts: known.row?.attempts ?? 0, owner: catalogue.leaseOwner.name)
      lease.error = known.row?.error
      try table.set(key, section, to: lease)
      return lease
    }
  }

  /// Runs `body` in a transaction, if the lease was not lost since it was taken; otherwise the answer is too late.
  private func settle(
    _ section: String?, _ lease: RefreshRow, _ body: (RefreshTable, Transaction) throws -> Void
  )
    throws -> Bool
  {
    try write { table, transaction in
      guard try table.row(key, section)?.owner == lease.owner else { return false }
      try body(table, transaction)
      return true
    }
  }

  private func write<Result>(_ body: (RefreshTable, Transaction) throws -> Result) throws -> Result {
    try database.prepare(RefreshSchema.subject)
    return try database.write { try body(RefreshTable(connection: $0.connection), $0) }
  }

  // MARK: Asking

  private mutating func ask(_ request: ContentRequest, _ lease: RefreshRow) throws {
    report.requests += 1
    do {
      let answer = try HostWork.calling("a source", for: Refresher.work(database)) {
        try HostWork.on(HostWork.Resource(ObjectIdentifier(database))) { try source.content(request) }
      }
      try store(answer, to: request, lease)
    } catch let error as SatchelError where error.endsFetching {
      try giveUp(request, lease, error)
    } catch let error as SourceFailure {
      try fail(request, lease, error)
    } catch let error as SatchelError {
      try fail(request, lease, SourceFailure(error.message), pointer: error.details.pointer)
    } catch {
      try fail(request, lease, SourceFailure("\(error)"))
    }
  }

  /// A request that was not answered can be sent again at once.
  private func giveUp(_ request: ContentRequest, _ lease: RefreshRow, _ error: SatchelError) throws -> Never {
    _ = try? settle(request.section, lease) { table, _ in try forget(request.section, lease, table) }
    throw error
  }

  /// Gives the lease back, and keeps what earlier failures say.
  private func forget(_ section: String?, _ lease: RefreshRow, _ table: RefreshTable) throws {
    guard lease.attempts > 0 else { return try table.remove(key, section) }
    var row = lease
    row.owner = nil
    try table.set(key, section, to: row)
  }

  private mutating func store(_ answer: ContentAnswer, to request: ContentRequest, _ lease: RefreshRow) throws
  {
    var (stored, age) = ([String](), nil as Int64?)
    let isInTime = try settle(request.section, lease) { table, transaction in
      switch answer {
      case .content(let bytes, let etag, let maxAge, let isComplete):
        age = maxAge
        stored = try bytes.withUnsafeBytes { try persist($0, for: request, etag, isComplete) }
      case .notModified(let etag, let maxAge):
        age = maxAge
        let count = try catalogue.renew(location, section: request.section, etag: etag)
        guard count > 0 else {
          throw SatchelError(.invalid, "the source says that nothing has changed, but nothing is stored")
        }
      case .notFound(let maxAge): age = maxAge ?? options.staleAfter
      }
      if let age {
        try table.set(
          key, request.section,
          to: RefreshRow(askedAt: transaction.now, freshFor: min(max(age, 0), Catalogue.maxAge) * 1000))
      } else {
        try table.remove(key, request.section)
      }
    }
    guard isInTime else { return skip(request.section, .busy) }
    switch answer {
    case .content(let bytes, _, _, _):
      report.refreshed += stored
      report.bytes += Int64(bytes.count)
    case .notModified:
      report.unchanged += try request.section.map { [$0] } ?? catalogue.ownSections(at: location)
    case .notFound: report.notFound.append(request.section)
    }
  }

  /// - Returns: the names of the sections
  private func persist(
    _ bytes: UnsafeRawBufferPointer, for request: ContentRequest, _ etag: String?, _ isComplete: Bool
  ) throws -> [String] {
    let tape = try Catalogue.tape(bytes, "the source's answer")
    if tape[tape.root].kind == .object, tape.member("sections", of: tape.root) != nil {
      let complete = try tape.member("complete", of: tape.root).map { try tape.value($0) == true } ?? false
      return try catalogue.deliver(
        tape, at: location, complete: isComplete || complete, reuse: options.reuse, etag: etag
      ).map(\.section)
    }
    let receipt = try catalogue.persist(tape, at: location, reuse: options.reuse, etag: etag)
    if let section = request.section, receipt.section != section {
      throw SatchelError(
        .invalid,
        "the source's answer: at /section: section \(receipt.section), where \(section) was asked for"
      ).at(SatchelError.Details(pointer: "/section"))
    }
    return [receipt.section]
  }

  private mutating func fail(
    _ request: ContentRequest, _ lease: RefreshRow, _ failure: SourceFailure, pointer: String? = nil
  ) throws {
    // By whatever failure the source has ended early.
    if cancellation.isCancelled() {
      try giveUp(request, lease, SatchelError(.cancelled, "\(database.path): cancelled by the caller"))
    }
    let (wait, isDemanded) = RefreshBackoff.wait(
      afterAttempts: request.attempt, failure, jitter: Double.random(in: 0...1))
    var retryAt: Int64 = 0
    _ = try settle(request.section, lease) { table, transaction in
      retryAt = transaction.now + wait
      try table.set(
        key, request.section,
        to: RefreshRow(
          askedAt: transaction.now, attempts: request.attempt, wait: wait, isDemanded: isDemanded,
          error: String(failure.message.prefix(1000))))
    }
    report.failed.append(
      RefreshReport.Failure(
        section: request.section, message: failure.message, pointer: pointer, retryAt: retryAt))
  }
}

extension Catalogue {
  /// Returns the names of the sections that were delivered for a location.
  func ownSections(at location: Location) throws -> [String] {
    try sections(at: location, inherit: false, nearby: 0).map(\.section)
  }
}

extension SectionReader {
  /// Returns what is stored for the location itself, of one section or of all.
  func stored(_ section: String?) throws -> StoredContent {
    let inheritance = try Inheritance(inherits: false, nearby: 0)
    let found =
      try section.map { try visibleSection($0, inheritance).map { [$0] } ?? [] }
      ?? visibleSections(inheritance)
    var stored = StoredContent()
    var etags = IDList()
    for section in found {
      let record = section.record
      etags.add(record.etag ?? "")
      stored.isStored = true
      stored.fetchedAt = min(stored.fetchedAt, record.fetchedAt)
      if record.isStale(at: now()) { stored.isStale = true }
      let plan = try plan(of: section)
      stored.missing += plan.missing
      stored.expired += plan.expired
    }
    if etags.ids.count == 1, let etag = etags.ids.first, !etag.isEmpty { stored.etag = etag }
    return stored
  }
}
