/// Who a collection agrees with, and what it is there.
struct RecordBinding: Sendable, Equatable {
  /// Whose records they are in the object store; nil before the first sync.
  var user: String?
  /// Names the store that holds the collection: no two stores have the same.
  var writer: String
  /// Version of the collection's documents.
  var version: Int64
}
