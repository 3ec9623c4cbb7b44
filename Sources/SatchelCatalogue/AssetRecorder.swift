import SatchelAssets
import SatchelCore
import SatchelJSON
import SatchelStorage

/// Records which assets the entities and the template of sections refer to, in the transaction that stores them.
///
/// References of entities and templates that were removed are found by the check and by the next prune
/// of assets: ids of removed rows are overwritten here when they are given again.
struct AssetRecorder {
  private let database: Database
  private let transaction: Transaction
  private var table: AssetTable?

  init(_ database: Database, _ transaction: Transaction) throws {
    (self.database, self.transaction) = (database, transaction)
    table = try database.has(AssetSchema.subject) ? AssetTable(transaction.connection) : nil
  }

  /// Finds the references of a delivered value that are not valid.
  ///
  /// - Parameter pointer: of the value
  static func problems(
    in tape: JSONTape, at index: Int, pointer: String
  ) throws -> [Receipt.Problem] {
    let text = UnsafeRawBufferPointer(rebasing: tape.bytes[tape.rawRange(index)])
    guard AssetReferences.mayContain(text) else { return [] }
    return AssetReferences(in: try tape.value(index)).problems.map {
      Receipt.Problem(pointer: pointer + $0.pointer, reason: $0.reason)
    }
  }

  /// Finds the URLs in delivered content that are declared to be assets; nil when none are declared for the section.
  func declared(
    for section: String, in tape: JSONTape, at content: Int, pointer: String
  ) throws -> DeclaredAssets? {
    guard table != nil else { return nil }
    let paths = try DeclaredAssets.paths(of: section, transaction.connection)
    return paths.isEmpty ? nil : DeclaredAssets(paths, in: tape, at: content, pointer: pointer)
  }

  /// Records what a stored body refers to.
  ///
  /// - Parameter urls: the strings in it that are declared to be URLs of assets
  mutating func note(_ body: UnsafeRawBufferPointer, of owner: AssetOwner, urls: [String] = []) throws {
    guard !urls.isEmpty || AssetReferences.mayContain(body) else {
      try table?.removeReferences(of: owner, now: transaction.now)
      return
    }
    var references = try AssetReferences(in: body)
    references.add(urls: urls)
    if table == nil, !references.found.isEmpty {
      try database.prepare(AssetSchema.subject)
      table = AssetTable(transaction.connection)
    }
    try table?.setReferences(of: owner, to: references, now: transaction.now)
  }
}
