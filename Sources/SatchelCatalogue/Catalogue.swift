import SatchelJSON
import SatchelStorage

/// Content scoped to places: stored once, reused between places, back on screen instantly and offline.
///
/// Safe to use from any number of threads. Writing returns when the data is on the disk; reading never waits
/// for writing.
public final class Catalogue: Sendable {
  package let database: Database
  let index = VariantIndex()
  let usage = ContextUsage()

  package init(database: Database) {
    self.database = database
    let (index, usage) = (index, usage)
    database.beforeClose = { transaction in
      try index.merge(in: transaction)
      try usage.write(in: transaction)
    }
    database.hasClosingWork = { try usage.isWorthWriting($0) }
  }

  /// What to do with an entity that is stored already.
  public enum Reuse: Sendable {
    /// Same content: only its expiry is renewed. Changed content: updated.
    case unlessChanged
    /// A fresh stored copy is kept untouched until it expires.
    case untilExpiry
  }

  /// Takes a section in, in one transaction.
  ///
  /// - Parameters:
  ///   - section: UTF-8 JSON: section, display_title, config, action, content
  ///   - location: where it belongs
  /// - Throws: `SatchelError` `.invalid` for what is no section, with the place; `.busy`, `.full`, `.readOnly`,
  ///   `.io`. Nothing is changed then. A bad `_storage` is no error: the receipt names it.
  @discardableResult
  public func persist(
    _ section: UnsafeRawBufferPointer, at location: Location, reuse: Reuse = .unlessChanged
  ) throws -> Receipt {
    try naming("section") {
      let tape = try JSONTape(section)
      let payload = try SectionPayload(tape, at: tape.root, pointer: "")
      return try database.write { transaction in
        let persister = try SectionPersister(self, location, reuse, transaction)
        let receipt = try persister.persist(payload, tape, pointer: "")
        try index.mergeIfMuch(in: transaction)
        return receipt
      }
    }
  }

  /// Takes a section in that was made in Swift.
  @discardableResult
  public func persist(
    _ section: JSONValue, at location: Location, reuse: Reuse = .unlessChanged
  ) throws -> Receipt {
    let bytes = try naming("section") { try section.serialized() }
    return try bytes.withUnsafeBytes { try persist($0, at: location, reuse: reuse) }
  }

  /// Takes a delivery in, `{"location": …, "sections": […]}`, all of it in one transaction.
  ///
  /// - Returns: a receipt for each section.
  @discardableResult
  public func deliver(_ delivery: UnsafeRawBufferPointer, reuse: Reuse = .unlessChanged) throws -> [Receipt] {
    try naming("delivery") {
      let tape = try JSONTape(delivery)
      guard let place = tape.member("location", of: tape.root),
        let list = tape.member("sections", of: tape.root)
      else { throw JSONError("a delivery is an object with location and sections", pointer: "") }
      guard tape[list].kind == .array else {
        throw JSONError("sections must be an array", pointer: "/sections")
      }
      let location = try Self.location(tape, at: place)
      let payloads = try tape.children(of: list).enumerated().map { position, index in
        try SectionPayload(tape, at: index, pointer: "/sections/\(position)")
      }
      return try database.write { transaction in
        let persister = try SectionPersister(self, location, reuse, transaction)
        let receipts = try payloads.enumerated().map { position, payload in
          try persister.persist(payload, tape, pointer: "/sections/\(position)")
        }
        try index.mergeIfMuch(in: transaction)
        return receipts
      }
    }
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
