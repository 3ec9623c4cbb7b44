import Testing

import SatchelRemote

@Suite("The address of a bucket")
struct S3EndpointTests {
  @Test(
    "has a host and a path in either style",
    arguments: [
      ("https://s3.example.org", S3Endpoint.Style.path, "s3.example.org", "/bucket/pre/k é", "/bucket"),
      ("https://s3.example.org/", .virtualHost, "bucket.s3.example.org", "/pre/k é", "/"),
      ("https://s3.example.org:443", .path, "s3.example.org", "/bucket/pre/k é", "/bucket"),
      ("HTTP://127.0.0.1:5007", .path, "127.0.0.1:5007", "/bucket/pre/k é", "/bucket"),
      ("http://localhost:80", .path, "localhost", "/bucket/pre/k é", "/bucket"),
      ("http://localhost:443", .path, "localhost:443", "/bucket/pre/k é", "/bucket"),
      ("http://[::1]:5007", .path, "[::1]:5007", "/bucket/pre/k é", "/bucket"),
      (
        "https://H.example.org/storage/v1/S3/", .path, "h.example.org", "/storage/v1/S3/bucket/pre/k é",
        "/storage/v1/S3/bucket"
      ),
      ("https://h/a~b", .virtualHost, "bucket.h", "/a~b/pre/k é", "/a~b/"),
      ("http://[::1]", .path, "[::1]", "/bucket/pre/k é", "/bucket"),
    ])
  func styles(address: String, style: S3Endpoint.Style, host: String, path: String, bucketPath: String) throws
  {
    let endpoint = try S3Endpoint(address: address, bucket: "bucket", style: style, prefix: ObjectKey("pre"))
    #expect(endpoint.host == host)
    #expect(try endpoint.path(of: ObjectKey("k é")) == path)
    #expect(endpoint.bucketPath == bucketPath)
    #expect(endpoint.origin == (endpoint.isSecure ? "https://" : "http://") + host)
    #expect(endpoint.isSecure == address.hasPrefix("https"))
  }

  @Test(
    "is refused when it is invalid",
    arguments: [
      "", "s3.example.org", "ftp://host", "https://", "https://:443", "https://host:", "https://host:0",
      "https://host:65536", "https://host:+80", "https://user:secret@host", "https://host/a//b",
      "https://host/../a", "https://host/a?b=c", "https://host/a@b", "https://host/%61",
      "https://host/a\u{10}b",
      "https://host?a=b",
      "https://ho st", "https://host\r\nx: y", "http://[::1", "http://::1", "http://[]", "https://hößt",
    ])
  func badAddress(address: String) throws {
    #expect(try reason { _ = try S3Endpoint(address: address, bucket: "bucket") } == .failed(.invalid))
  }

  @Test(
    "is refused for an invalid bucket name",
    arguments: [
      "", "ab", "Bück", "_ab", "ab_", "a/b", "-ab", "ab-", ".ab", "bück", String(repeating: "a", count: 64),
    ])
  func badBucket(bucket: String) throws {
    #expect(try reason { _ = try S3Endpoint(address: "https://h", bucket: bucket) } == .failed(.invalid))
  }

  @Test("a bucket name with capitals or underscores needs addressing by path")
  func olderNames() throws {
    for bucket in ["my_bucket", "Bucket"] {
      #expect(try S3Endpoint(address: "https://h", bucket: bucket).bucketPath == "/" + bucket)
      #expect(
        try reason { _ = try S3Endpoint(address: "https://h", bucket: bucket, style: .virtualHost) }
          == .failed(.invalid))
    }
  }

  @Test("a bucket name with dots is refused as a host name over https")
  func dots() throws {
    #expect(
      try reason { _ = try S3Endpoint(address: "https://h", bucket: "a.b", style: .virtualHost) }
        == .failed(.invalid))
    #expect(try S3Endpoint(address: "http://h", bucket: "a.b", style: .virtualHost).host == "a.b.h")
    #expect(try S3Endpoint(address: "https://h", bucket: "a.b").host == "h")
  }

  @Test("a key that is too long together with the prefix is refused")
  func longKey() throws {
    let prefix = try ObjectKey(String(repeating: "p", count: 1000))
    let endpoint = try S3Endpoint(address: "https://h", bucket: "bucket", prefix: prefix)
    #expect(try endpoint.path(of: ObjectKey(String(repeating: "k", count: 23))).utf8.count == 1024 + 8)
    #expect(
      try reason { _ = try endpoint.path(of: ObjectKey(String(repeating: "k", count: 24))) } == .invalidKey)
  }
}
