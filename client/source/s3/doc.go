// Package s3 reads objects of Amazon S3 and of compatible stores, each once from its beginning to its end, as package web reads files.
//
// Credentials, region and endpoint are found where the AWS tools find them:
//
//	credentials   AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN; ~/.aws/credentials, then ~/.aws/config, of the profile
//	              AWS_PROFILE (also by
//	              credential_process); the roles of containers and machines, unless AWS_EC2_METADATA_DISABLED=true
//	region        AWS_REGION, AWS_DEFAULT_REGION, region of the profile in ~/.aws/config; us-east-1
//	endpoint      AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, endpoint_url of the profile; that of the region
//
// AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE name other files. Every request gets a signature of its own, so a read that outlasts its
// credentials continues with new ones. Errors contain no credential and no signature. Redirects are not followed, because a signature is
// valid for one server only.
package s3
