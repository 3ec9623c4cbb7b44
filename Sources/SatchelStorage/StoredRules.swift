/// What the values of tables can be, by "table.column"; `StoredRange.usual` for integers that are not named.
package struct StoredRules: Sendable {
  package var bounds: [String: ClosedRange<Int64>]
  /// Columns that hold JSON.
  package var documents: Set<String>

  package init(bounds: [String: ClosedRange<Int64>] = [:], documents: Set<String> = []) {
    self.bounds = bounds
    self.documents = documents
  }

  package func merging(_ other: StoredRules) -> StoredRules {
    StoredRules(
      bounds: bounds.merging(other.bounds) { one, _ in one }, documents: documents.union(other.documents))
  }
}
