import SatchelAssets
import SatchelCore
import SatchelJSON
import SatchelStorage

/// A catalogue of content scoped to places: an entity is stored once, shared between the places that it
/// covers, and loaded without a network.
///
/// Safe to use from any number of threads. A write returns after its data is on the disk; reads never wait
/// for writes.
public final class Catalogue: Sendable {
  package let database: Database
  let index = VariantIndex()
  let usage = ContextUsage()
  private let lazyLeaseOwner = Lazy<LeaseOwner>()
  let lazyRefreshes = Lazy<RefreshQueue>()
  /// For a store that is opened read-only.
  let temporarySearchIndex = Locked<TemporarySearchIndex?>(nil)

  private let makeAssets: @Sendable () -> AssetStore

  /// - Parameter assets: those of the store
  package init(database: Database, assets: (@Sendable () -> AssetStore)? = nil) {
    self.database = database
    makeAssets = assets ?? { AssetStore(database, pinned: Catalogue.pinnedAssets) }
    let (index, usage) = (index, usage)
    database.beforeClosing(isNeeded: usage.needsWrite) { transaction in
      try index.merge(in: transaction)
      try usage.write(in: transaction)
    }
  }

  deinit { stopRefreshing() }

  /// Owns the leases of requests to sources.
  var leaseOwner: LeaseOwner { lazyLeaseOwner.value { LeaseOwner(database) } }

  /// The named parts of the catalogue that stay, whatever is pruned.
  public var regions: Regions { Regions(catalogue: self, assets: makeAssets()) }

  /// The policy for an entity that is already stored.
  public enum Reuse: Sendable {
    /// Renews the expiry of an entity whose content is the same, and updates one whose content changed.
    case unlessChanged
    /// Leaves a stored entity unchanged until it expires.
    case untilExpiry
  }

  /// Stores a section, in one transaction.
  ///
  /// - Parameters:
  ///   - section: UTF-8 JSON object with section, display_title, config, action and content
  ///   - location: the location that the section belongs to
  ///   - reuse: the policy for entities that are already stored
  ///   - etag: the entity tag of the answer (RFC 9110); nil for none
  /// - Returns: the counts of what was stored, and the objects that could not be stored as entities. A
  ///   malformed `_storage` is reported there and is not an error.
  /// - Throws: `SatchelError` `.invalid` for a malformed section, with pointer and position; `.busy`,
  ///   `.full`, `.readOnly`, `.io`. The transaction is then rolled back.
  @discardableResult
  public func persist(
    _ section: UnsafeRawBufferPointer, at location: Location, reuse: Reuse = .unlessChanged,
    etag: String? = nil
  ) throws -> Receipt {
    try persist(Self.tape(section, "section"), at: location, reuse: reuse, etag: etag)
  }

  /// Parses JSON that is to be stored.
  ///
  /// - Parameter name: its name in errors
  static func tape(_ bytes: UnsafeRawBufferPointer, _ name: String) throws -> JSONTape {
    try locating(.section(nil)) { try naming(name) { try JSONTape(bytes) } }
  }

  func persist(_ tape: JSONTape, at location: Location, reuse: Reuse, etag: String?) throws -> Receipt {
    var name: String?
    return try locating(.section(name)) {
      try naming("section") {
        let payload = try SectionPayload(tape, at: tape.root, pointer: "")
        name = payload.name
        return try database.write { transaction in
          let persister = try SectionPersister(
            self, at: location, reuse: reuse, etag: etag, in: transaction)
          let receipt = try persister.persist(payload, tape, pointer: "")
          try mergeIndexes(persister, in: transaction)
          return receipt
        }
      }
    }
  }

  /// Stores a section that was built in Swift, in one transaction.
  @discardableResult
  public func persist(
    _ section: JSONValue, at location: Location, reuse: Reuse = .unlessChanged, etag: String? = nil
  ) throws -> Receipt {
    let bytes = try naming("section") { try section.serialized() }
    return try bytes.withUnsafeBytes { try persist($0, at: location, reuse: reuse, etag: etag) }
  }

  /// Stores a delivery, `{"location": …, "sections": […]}`, in one transaction.
  ///
  /// - Parameters:
  ///   - delivery: UTF-8 JSON
  ///   - complete: whether the delivery has all sections of the location: others that it has are removed, and it
  ///     inherits none, until it is delivered again without, or one of its sections is removed
  ///   - reuse: the policy for entities that are already stored
  ///   - etag: the entity tag of the answer (RFC 9110), for each of the sections; nil for none
  /// - Returns: one receipt for each section
  /// - Throws: as `persist`
  @discardableResult
  public func deliver(
    _ delivery: UnsafeRawBufferPointer, complete: Bool = false, reuse: Reuse = .unlessChanged,
    etag: String? = nil
  ) throws -> [Receipt] {
    try deliver(
      Self.tape(delivery, "delivery"), at: nil, complete: complete, reuse: reuse, etag: etag)
  }

  /// Stores a delivery.
  ///
  /// - Parameter location: of a delivery that names none; nil to refuse such a one
  func deliver(
    _ tape: JSONTape, at location: Location?, complete: Bool, reuse: Reuse, etag: String?
  ) throws -> [Receipt] {
    var name: String?
    return try locating(.section(name)) {
      try naming("delivery") {
        let place = tape.member("location", of: tape.root)
        guard place != nil || location != nil, let list = tape.member("sections", of: tape.root)
        else { throw JSONError("a delivery must be an object with location and sections", pointer: "") }
        guard tape[list].kind == .array else {
          throw JSONError("sections must be an array", pointer: "/sections")
        }
        let stated = try place.map { try Self.location(tape, at: $0) } ?? location
        guard let location = stated else { throw SatchelError(.internal, "a delivery without a location") }
        let payloads = try tape.children(of: list).enumerated().map { position, index in
          try SectionPayload(tape, at: index, pointer: "/sections/\(position)")
        }
        return try database.write { transaction in
          let persister = try SectionPersister(
            self, at: location, reuse: reuse, etag: etag, in: transaction)
          let receipts = try payloads.enumerated().map { position, payload in
            name = payload.name
            return try persister.persist(payload, tape, pointer: "/sections/\(position)")
          }
          name = nil
          let names = payloads.map(\.name)
          if complete {
            try persister.markComplete(with: names)
          } else {
            try persister.markIncomplete(with: names)
          }
          try mergeIndexes(persister, in: transaction)
          return receipts
        }
      }
    }
  }

  private func mergeIndexes(_ persister: SectionPersister, in transaction: Transaction) throws {
    try index.mergeIfNeeded(in: transaction)
    if persister.hasNewPosition { try PositionIndex.mergeIfNeeded(database, in: transaction) }
  }

  /// Stores a delivery that was built in Swift, in one transaction.
  @discardableResult
  public func deliver(
    _ delivery: JSONValue, complete: Bool = false, reuse: Reuse = .unlessChanged, etag: String? = nil
  ) throws -> [Receipt] {
    let bytes = try naming("delivery") { try delivery.serialized() }
    return try bytes.withUnsafeBytes { try deliver($0, complete: complete, reuse: reuse, etag: etag) }
  }

  private static func location(_ tape: JSONTape, at index: Int) throws -> Location {
    do {
      return try Location(json: tape.value(index))
    } catch var error as JSONError {
      error.pointer = "/location" + (error.pointer ?? "")
      throw error
    }
  }
}
